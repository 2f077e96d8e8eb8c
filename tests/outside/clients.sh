# Checks for authors of clients: the docs page, the commands in docs/clients.md, the programs in
# examples/, and clients generated from openapi.yaml. Part of scripts/test.

# Opens /docs in a browser. A screenshot is left in the target folder; docs/docs-page.png is a copy.
open_docs_page() {
    start_service sqlite
    load_some_animals
    cp tests/outside/docs-page.mjs "$outside/node"
    node "$outside/node/docs-page.mjs" "$outside/chromium/chromium" "$outside/docs-page.png"
    stop_service
}

# Generates the clients, and builds the programs in examples/, outside of the source folders.
build_examples() {
    local to=$outside/examples
    rm -rf "$to/python" "$to/typescript/build"
    mkdir -p "$to/python"
    # The generator looks for its formatter on the path.
    PATH=$to/venv/bin:$PATH openapi-python-client generate \
        --path openapi.yaml --meta none --output-path "$to/python/petstore" --fail-on-warning
    "$to/typescript/node_modules/.bin/openapi-typescript" openapi.yaml \
        --default-non-nullable=false --output "$to/typescript/petstore.ts"
    cp examples/typescript/{*.ts,tsconfig.json} "$to/typescript"
    (cd "$to/typescript" && node_modules/.bin/tsc)
    cargo fmt --manifest-path examples/rust/Cargo.toml --check
    RUSTFLAGS='-D warnings' CARGO_TARGET_DIR=$to/rust \
        cargo build --locked --manifest-path examples/rust/Cargo.toml
}

# tour CLIENT TOUR COMMAND...: runs a client through a proxy that drops responses, and compares its
# output. The client's messages about dropped responses are shown only if the tour fails.
tour() {
    local name=$1 expected=$2
    shift 2
    echo "$name"
    PYTHONPATH=$outside/examples/python python3 tests/outside/unreliable_proxy.py "$@" \
        2>"$scratch/messages" | diff "$expected" - ||
        { cat "$scratch/messages"; return 1; }
}

# The commands of "The first hour" in docs/clients.md, unchanged.
follow_first_hour() {
    start_service sqlite
    sed -n '/^### Every animal/,/^## /s/^    //p' docs/clients.md >"$scratch/first-hour"
    load_some_animals
    (cd "$scratch" && bash -euo pipefail first-hour) | tee "$scratch/walked"
    grep -Fx "300 animals" "$scratch/walked" >/dev/null
    stop_service
}

# Runs the commands that docs/clients.md gives for two of the generators, unchanged. Each client
# must list every animal.
walk_with_generated_clients() {
    local language folder
    start_service sqlite
    load_some_animals
    for language in Python Go; do
        echo "$language"
        folder=$(mktemp -d -p "$scratch")
        sed -n -e '/^## Generated clients$/,/^###/s/^    //p' \
            -e "/^### $language\$/,/^##/s/^    //p" docs/clients.md >"$folder/commands"
        (cd "$folder" && PATH=$outside/generators/bin:$PATH GOCACHE=$outside/go-build GOPROXY=off \
            bash -euo pipefail commands) >"$folder/log" 2>&1 || { cat "$folder/log"; return 1; }
        tail -n 1 "$folder/log" | grep -Fx "300 animals"
    done
    stop_service
}

# All clients do the same, and print the same.
take_tours() {
    local to=$outside/examples
    # A generated client cannot omit a required member.
    grep -v invalid_body examples/tour.txt >"$scratch/generated-tour.txt"
    start_service "$1"
    PETSTORE_READ_KEY=$("$petstore" keys create --name reader --scope read --rate-limit 5/s \
        --database "$database")
    export PETSTORE_READ_KEY
    tour "curl" examples/tour.txt examples/curl/tour.sh
    tour "Python" examples/tour.txt "$to/venv/bin/python" examples/python/tour.py
    tour "TypeScript" examples/tour.txt node "$to/typescript/build/tour.js"
    tour "Rust" examples/tour.txt "$to/rust/debug/tour"
    tour "openapi-python-client" "$scratch/generated-tour.txt" \
        "$to/venv/bin/python" examples/python/generated.py
    tour "openapi-typescript" "$scratch/generated-tour.txt" node "$to/typescript/build/generated.js"
    tour "progenitor" "$scratch/generated-tour.txt" "$to/rust/debug/generated"
    stop_service
}

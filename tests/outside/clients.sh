# Checks for authors of clients: the docs page, the commands in docs/clients.md, the programs in
# examples/, and clients generated from both documents. Part of scripts/test.

# Opens /docs in a browser. A screenshot is left in the target folder; docs/docs-page.png is a copy.
open_docs_page() {
    start_service sqlite
    load_some_animals
    cp tests/outside/docs-page.mjs "$outside/node"
    node "$outside/node/docs-page.mjs" "$outside/chromium/chromium" "$outside/docs-page.png"
    stop_service
}

# A real OpenID provider and a browser: see tests/outside/oidc.mjs.
sign_in_at_provider() {
    cp tests/outside/oidc.mjs "$outside/node"
    node "$outside/node/oidc.mjs" "$outside/chromium/chromium" "$petstore" "$(mktemp -d -p "$scratch")"
}

# A day in a store in a browser: see tests/outside/console.mjs. Its pictures are those of docs/console.md.
open_console() {
    local links='' member
    PETSTORE_CONSOLE_LISTEN=127.0.0.1:0 start_service "$1"
    for member in 'Anna manager' 'Ben clerk' 'Cleo viewer'; do
        links+=" $("$petstore" staff add "${member% *}" --role "${member#* }" --database "$database")"
    done
    cp -r tests/outside/console.mjs tests/outside/console "$outside/node"
    cp tests/data/days-in-words.csv "$outside/node/console"
    mkdir -p "$outside/console"
    CONSOLE_URL=$(sed -n 's/.*"message":"console at \([^"]*\)".*/\1/p' "$service_log") CONSOLE_LINKS=$links \
        CONSOLE_LOOKS=$looks node "$outside/node/console.mjs" "$outside/chromium/chromium" "$outside/console"
    "$petstore" check --database "$database"
    # One of the states is a service with too many passwords to check.
    stop_service 'the store is overloaded'
}

# The pages of the window in a browser and in the HTML validator: see tests/outside/window.mjs. Its pictures are those
# of docs/window.md.
open_window() {
    PETSTORE_CONSOLE_LISTEN=off PETSTORE_WINDOW_LISTEN=127.0.0.1:0 PETSTORE_CURRENCY=EUR \
        PETSTORE_STORE_NAME='Paws & Co.' PETSTORE_STORE_CONTACT=mailto:hello@paws.example start_service "$1"
    cp -r tests/outside/window.mjs tests/outside/window "$outside/node"
    # The test changes the language of the store.
    PETSTORE_KEY=$("$petstore" keys create --name window --scope store:admin --database "$database")
    export PETSTORE_KEY
    WINDOW_URL=$(sed -n 's/.*"message":"window at \([^"]*\)".*/\1/p' "$service_log") \
        node "$outside/node/window.mjs" "$outside/chromium/chromium" "$outside/window"
    stop_service
}

# Generates the clients, and builds the programs in examples/, outside of the source folders.
build_examples() {
    local to=$outside/examples
    rm -rf "$to/python" "$to/typescript/build"
    mkdir -p "$to/python"
    # The generator looks for its formatter on the path.
    PATH=$to/venv/bin:$PATH openapi-python-client generate \
        --path openapi/openapi.yaml --meta none --output-path "$to/python/petstore" --fail-on-warning
    # This generator leaves out the operations whose body is a picture, and must not leave out another one.
    PATH=$to/venv/bin:$PATH openapi-python-client generate --path openapi/openapi-store.yaml --meta none \
        --output-path "$to/python/petstore_store" 2>&1 | tee "$scratch/generated"
    grep -qF ' POST /store/pets/{petId}/photos ' "$scratch/generated"
    grep -qF ' PUT /store/profile/logo ' "$scratch/generated"
    [[ $(grep -c '^WARNING' "$scratch/generated") == 2 ]]
    "$to/typescript/node_modules/.bin/openapi-typescript" openapi/openapi.yaml \
        --default-non-nullable=false --output "$to/typescript/petstore.ts"
    "$to/typescript/node_modules/.bin/openapi-typescript" openapi/openapi-store.yaml \
        --default-non-nullable=false --output "$to/typescript/store.ts"
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

# The commands of "Every animal" in docs/clients.md, unchanged.
follow_first_hour() {
    start_service sqlite
    sed -n '/^### Every animal/,/^## /s/^    //p' docs/clients.md >"$scratch/first-hour"
    load_some_animals
    (cd "$scratch" && bash -euo pipefail first-hour) | tee "$scratch/walked"
    grep -Fx "300 animals" "$scratch/walked" >/dev/null
    stop_service
}

# The commands of docs/clients.md for a generated client in Python, unchanged. It must list every animal.
walk_with_generated_client() {
    local folder
    start_service sqlite
    load_some_animals
    folder=$(mktemp -d -p "$scratch")
    sed -n -e '/^## Generated clients$/,/^###/s/^    //p' -e '/^### Python$/,/^##/s/^    //p' \
        docs/clients.md >"$folder/commands"
    (cd "$folder" && PATH=$outside/generators/bin:$PATH bash -euo pipefail commands) >"$folder/log" 2>&1 ||
        { cat "$folder/log"; return 1; }
    tail -n 1 "$folder/log" | grep -Fx "300 animals"
    stop_service
}

# generate_clients GENERATOR FOLDER: makes both clients, with the options that docs/clients.md gives for the store area.
generate_clients() {
    local command more=
    command=$(sed -n '/^### Clients of the store area$/,/^##/s/^    //p' docs/clients.md |
        sed ':again; /\\$/{N; s/\\\n *//; b again}' | grep -e " -g $1 ")
    case $1 in
        go) more='--model-name-mappings NewPet=PetInput' ;;
        # Debian has no library for it.
        java) more='--additional-properties openApiNullable=false' ;;
    esac
    mkdir -p "$2"
    cp openapi/openapi.yaml openapi/openapi-store.yaml tests/outside/generated/* "$2"
    cp docs/window-animal.webp "$2/photo.webp"
    (
        cd "$2" && eval "$command $more" &&
            eval "$(sed 's/-store//; s/petstore_store/petstore/g; s/PetstoreStore/Petstore/' <<<"$command $more")"
    ) >"$2/log" 2>&1 || { cat "$2/log"; return 1; }
}

# Clients of both documents in six languages, which do the same and print the same. The libraries are Debian's; those
# for Java are in the generator, except one.
tour_generated_clients() {
    local generators=$outside/generators node=$outside/examples/typescript/node_modules generator folder jars
    start_service sqlite
    PETSTORE_KEY=$("$petstore" keys create --name generated --scope store:admin --database "$database")
    jars=$(echo "$generators"/lib/python3*/site-packages/openapi_generator_cli/openapi-generator.jar)
    jars+=:/usr/share/java/geronimo-annotation-1.3-spec.jar
    for generator in python go ruby typescript-fetch java php; do
        echo "$generator"
        folder=$(mktemp -d -p "$scratch")
        PATH=$generators/bin:$PATH generate_clients "$generator" "$folder/src"
        (
            cd "$folder/src" || exit
            case $generator in
                python) PYTHONPATH=petstore:petstore_store "$generators/bin/python" tour.py python ;;
                go)
                    GO111MODULE=off GOPATH=$folder:/usr/share/gocode GOCACHE=$outside/go-build go run tour.go go
                    ;;
                ruby) ruby -I petstore/lib -I petstore_store/lib tour.rb ruby ;;
                typescript-fetch)
                    "$node/.bin/tsc" --strict --target es2022 --module commonjs --typeRoots "$node/@types" \
                        --types node tour.ts &&
                        node tour.js typescript
                    ;;
                java)
                    javac -XDsuppressNotes -d classes -cp "$jars" Tour.java \
                        $(find . -path '*/src/main/*' -name '*.java') &&
                        java -cp "classes:$jars" Tour java
                    ;;
                php) php tour.php php ;;
            esac
        ) >"$folder/tour" || { cat "$folder/tour"; return 1; }
        case $generator in
            # It sends the parameter `field` under its own name.
            java) grep -v 'by its microchip' tests/outside/generated/tour.txt ;;
            *) cat tests/outside/generated/tour.txt ;;
        esac | diff - "$folder/tour"
    done
    stop_service
}

# All clients do the same, and print the same.
# The tours of both documents with curl, which needs no generated client.
take_curl_tour() {
    start_service sqlite
    PETSTORE_READ_KEY=$("$petstore" keys create --name reader --scope read --rate-limit 5/s \
        --database "$database")
    PETSTORE_STORE_KEY=$("$petstore" keys create --name staff --scope store:write \
        --database "$database")
    export PETSTORE_READ_KEY PETSTORE_STORE_KEY
    tour "curl" examples/tour.txt examples/curl/tour.sh
    tour "curl, store area" examples/store-tour.txt examples/curl/store-tour.sh
    stop_service
}

# Two processes on one database keep photos in a bucket of another's implementation of Amazon S3, which
# verifies the signature of each request.
keep_photos_in_bucket() {
    local deadline=$((SECONDS + 60)) port s3 other origin pet photo
    mkdir -p "$scratch/s3/shop"
    # It takes no port 0.
    port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    "$outside/cargo/bin/s3s-fs" --host 127.0.0.1 --port "$port" --access-key till --secret-key secret \
        "$scratch/s3" >"$scratch/s3.log" 2>&1 &
    s3=$!
    export AWS_ACCESS_KEY_ID=till AWS_SECRET_ACCESS_KEY=secret AWS_REGION=us-east-1
    export AWS_ENDPOINT_URL=http://127.0.0.1:$port
    until curl -sS -o /dev/null "$AWS_ENDPOINT_URL" 2>/dev/null; do
        if ! kill -0 "$s3" 2>/dev/null || ((SECONDS >= deadline)); then
            cat "$scratch/s3.log"
            return 1
        fi
        sleep 0.05
    done
    if AWS_SECRET_ACCESS_KEY=other "$petstore" serve --database "sqlite:$scratch/refused.db" \
        --photos s3://shop/pets/photos --listen 127.0.0.1:0 2>"$scratch/refused"; then
        return 1
    fi
    grep -o 'the bucket cannot be used.*SignatureDoesNotMatch' "$scratch/refused"
    start_service postgres s3://shop/pets/photos
    "$petstore" serve --database "$database" --photos s3://shop/pets/photos --listen 127.0.0.1:0 2>"$scratch/other" &
    other=$!
    until origin=$(sed -n 's|.*"message":"serving \(http:[^"]*\)/v1".*|\1|p' "$scratch/other") && [[ -n $origin ]]; do
        kill -0 "$other"
        sleep 0.05
    done
    pet=$(store_post pets -H 'Content-Type: application/json' -d '{"name": "Luna", "categoryId": 1}' | field id)
    photo=$(store_post "pets/$pet/photos" -H 'Content-Type: image/webp' --data-binary @docs/window-list.webp |
        sed -n 's|.*"large":"\([^"]*\)".*|\1|p')
    echo "One process kept $photo, and the other one sends it:"
    curl -fsS "$origin$photo" -o "$scratch/photo.jpg" -w '%{http_code} %{content_type} %{size_download} bytes\n'
    "$petstore" check --database "$database" --photos s3://shop/pets/photos --photos-content
    "$petstore" copy --from "$database" --from-photos s3://shop/pets/photos --to "sqlite:$scratch/copied.db" \
        --to-photos "$scratch/copied"
    cmp "$scratch/photo.jpg" "$scratch/copied/$(basename "$photo" | cut -c1-2)/$(basename "$photo")"
    "$petstore" check --database "sqlite:$scratch/copied.db" --photos "$scratch/copied" --photos-content
    kill -TERM "$other"
    wait "$other"
    stop_service
    kill -TERM "$s3"
    wait "$s3" || true
}

# store_post PATH ARGUMENTS...: what the store area responds to a POST.
store_post() {
    curl -fsS -X POST "$PETSTORE_URL/store/$1" -H "Authorization: Bearer $PETSTORE_KEY" "${@:2}"
}

# field NAME: the number with this name in a JSON object.
field() {
    sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"
}

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
    PETSTORE_STORE_KEY=$("$petstore" keys create --name staff --scope store:write \
        --database "$database")
    export PETSTORE_STORE_KEY
    tour "curl, store area" examples/store-tour.txt examples/curl/store-tour.sh
    tour "Python, store area" examples/store-tour.txt \
        "$to/venv/bin/python" examples/python/store_tour.py
    # A generated client cannot omit what is required, or send an unknown member. This one supports no search by the
    # value of a field, and no body that is a picture.
    grep -vE 'without a version|does not exist|microchip|photo|picture' examples/store-tour.txt >"$scratch/store-tour.txt"
    tour "openapi-python-client, store area" "$scratch/store-tour.txt" \
        "$to/venv/bin/python" examples/python/generated_store.py
    tour "Rust, store area" examples/store-tour.txt "$to/rust/debug/store_tour"
    tour "TypeScript, store area" examples/store-tour.txt node "$to/typescript/build/store-tour.js"
    tour "openapi-typescript, store area" examples/store-tour.txt \
        node "$to/typescript/build/generated-store.js"
    stop_service
}

# The receivers of docs/webhooks.md, with messages of a service and with forged ones.
receive_webhooks() {
    local to=$outside/examples
    PETSTORE_WEBHOOK_ALLOW=127.0.0.1 start_service "$1"
    receiver() {
        echo "$1"
        shift
        PETSTORE_WEBHOOK_ALLOW=127.0.0.1 PETSTORE_SECRET_KEY_FILE=${service_log%/log}/secret-key \
            python3 tests/outside/webhook_receiver.py "$petstore" "$database" "$@"
    }
    receiver "Python" "$to/venv/bin/python" examples/python/webhook_receiver.py
    receiver "TypeScript" node "$to/typescript/build/webhook-receiver.js"
    receiver "Rust" "$to/rust/debug/webhook_receiver"
    receiver "Shell" systemd-socket-activate --listen 127.0.0.1:PORT --accept --inetd \
        -E WEBHOOK_SECRET -E WEBHOOK_MESSAGES examples/curl/webhook-receiver.sh
    stop_service
}

# The commands of both days in docs/store-area.md, unchanged. Each shows its errors, so the expected
# ones are counted.
follow_store_days() {
    start_service "$1"
    PETSTORE_STORE_KEY=$("$petstore" keys create --name staff --scope store:write --database "$database")
    export PETSTORE_STORE_KEY
    sed -n '/^## A day in a shelter$/,$s/^    //p' docs/store-area.md >"$scratch/days"
    # The bytes of a picture say its format. Over PostgreSQL, the service keeps no photos by default.
    cp docs/window-animal.webp "$scratch/luna.jpg"
    (cd "$scratch" && bash -euo pipefail days >days.out)
    cat "$scratch/days.out"
    # Luna twice, and an old version of Rex.
    diff <(grep -o '"code":"[a-z_]*"' "$scratch/days.out" | grep -v photos_off) \
        <(printf '"code":"%s"\n' invalid_transition precondition_failed)
    grep -F '"available":1,"pending":0,"sold":0,"withdrawn":1,' "$scratch/days.out" >/dev/null
    # Floppy comes before Flöckchen in the list of names, and the sale is there once more.
    grep -F '"name":"Flöckchen"' "$scratch/days.out" | grep -F '"name":"Floppy"' >/dev/null
    [[ $(grep -cF '"reference":"I-2026-0093"' "$scratch/days.out") == 3 ]]
    [[ $(grep -F '"reference":"I-2026-0093"' "$scratch/days.out" | tr -d '[]' | sort -u | wc -l) == 1 ]]
    stop_service
}

# Checks of the built service, and of its package, documents and dependencies: functions of scripts/test.

# `cargo fmt` does not find the files of the languages, because a macro names them.
check_format() {
    cargo fmt --all --check && rustfmt --edition 2024 --check crates/languages/src/*/*.rs
}

# expect_no_warning TARGETS...: fails if rustc or Clippy warns of these targets, or of those that
# cargo test builds. cargo repeats the warnings of what it has compiled before.
expect_no_warning() {
    local said
    said=$(cargo test --locked --workspace --no-run "$@" 2>&1) || { printf '%s\n' "$said"; return 1; }
    printf '%s\n' "$said"
    ! grep -q '^warning: .* generated [0-9]* warning' <<<"$said"
}

document_code() {
    RUSTDOCFLAGS='-D warnings' cargo doc --locked --workspace --no-deps
}

# Licenses, duplicate versions, and sources.
check_dependencies() {
    "$outside/cargo/bin/cargo-deny" --locked check bans licenses sources
}

# Known vulnerabilities in the RustSec advisory database. It is fetched first, so an unreachable
# database is not reported as a vulnerability.
check_advisories() {
    local deny=$outside/cargo/bin/cargo-deny
    if ! GIT_TERMINAL_PROMPT=0 timeout --kill-after=5 60 "$deny" --locked fetch db; then
        echo "The advisory database cannot be reached: whether a dependency has a known vulnerability was not checked."
        return "$NOT_CHECKED"
    fi
    "$deny" --locked check advisories
}

# Prometheus parses the rules, fires the alerts, and parses the queries of the dashboard and the
# metrics page.
check_watching() {
    local promtool=$outside/promtool/usr/bin/promtool url
    "$promtool" check rules deploy/prometheus/alerts.yaml
    "$promtool" test rules tests/outside/alerts.yaml
    python3 - deploy/grafana/petstore.json >"$scratch/queries.yaml" <<'PYTHON'
import json, sys

panels = json.load(open(sys.argv[1]))["panels"]
queries = [target["expr"] for panel in panels for target in panel.get("targets", [])]
rules = [
    {"record": f"query:{number}", "expr": query.replace("$__rate_interval", "1m")}
    for number, query in enumerate(queries)
]
json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, sys.stdout)
PYTHON
    "$promtool" check rules "$scratch/queries.yaml"
    PETSTORE_MANAGEMENT_LISTEN=127.0.0.1:0 start_service sqlite
    url=$(sed -n 's/.*"message":"management listener at \([^"]*\)".*/\1/p' "$service_log")
    curl -fsS "$PETSTORE_URL/pets" -H "Authorization: Bearer $PETSTORE_KEY" >/dev/null
    curl -fsS "$url/metrics" | "$promtool" check metrics
    stop_service
}

# nginx with the texts of the documents, and one of them in front of a window.
try_nginx() {
    local animals=20000
    PETSTORE_CONSOLE_LISTEN=off PETSTORE_WINDOW_LISTEN=127.0.0.1:0 start_service sqlite
    # More than what is buffered on the way to a client.
    python3 -c "print('name,categoryId,status,description')
for number in range($animals): print(f'Luna {number},1,available,' + f'{number} ' * 200)" >"$scratch/many.csv"
    "$petstore" import --database "$database" "$scratch/many.csv"
    python3 -B -m tests.outside.nginx --nginx "$outside/nginx/usr/sbin/nginx" --api "$PETSTORE_URL" \
        --window "$(sed -n 's/.*"message":"window at \([^"]*\)".*/\1/p' "$service_log")" --animals "$animals" \
        --key "$("$petstore" keys create --name fields --scope store:admin --database "$database")"
    stop_service
}

# The served OpenAPI documents: in both forms, with server addresses.
print_served_documents() {
    local format
    for format in yaml json; do
        "$petstore" openapi --format "$format" \
            --base-url https://pets.example.com/v1 \
            --staging-base-url https://staging.pets.example.com/v1 \
            >"$scratch/served.$format"
        "$petstore" openapi --store --format "$format" \
            --base-url https://pets.example.com/v1 \
            --staging-base-url https://staging.pets.example.com/v1 \
            >"$scratch/served-store.$format"
    done
}

lint() {
    "$outside/node/node_modules/.bin/spectral" lint --ruleset tests/outside/spectral.yaml \
        --fail-severity=hint "$@"
}

lint_served_documents() {
    print_served_documents
    lint "$scratch"/served{,-store}.{yaml,json}
}

validate_documents() {
    print_served_documents
    "$outside/venv/bin/openapi-spec-validator" \
        openapi/openapi.yaml "$scratch/served.yaml" "$scratch/served.json" \
        openapi/openapi-store.yaml "$scratch/served-store.yaml" "$scratch/served-store.json"
}

# run_schemathesis DOCUMENT BACKEND SHARE OPTIONS...: sends requests generated from openapi.yaml or
# openapi-store.yaml to a service with enough animals for lists of many pages; one of SHARE of the
# usual number, and a quarter of it over PostgreSQL.
run_schemathesis() {
    local root=$PWD document=$1 backend=$2 share=$3 hooks=schemathesis_hooks
    shift 3
    if [[ $backend == postgres ]]; then share=$((4 * share)); fi
    start_service "$backend"
    load_some_animals
    if [[ $document == openapi/openapi-store.yaml ]]; then
        hooks=store_area_hooks
        PETSTORE_KEY=$("$petstore" keys create --name staff --scope store:admin --database "$database")
    fi
    cd "$scratch" # where schemathesis may write
    SCHEMATHESIS_HOOKS=$hooks PYTHONPATH=$root/tests/outside \
        "$outside/venv/bin/schemathesis" \
        --config-file "$root/tests/outside/schemathesis.toml" \
        run "$root/$document" --url "$PETSTORE_URL" \
        --checks all --phases examples,coverage,fuzzing,stateful --mode all \
        --seed "$seed" --max-examples $(((examples + share - 1) / share)) --no-color "$@"
    stop_service
}

# Adds 10,000 real animals by POST, and reads them back by a walk.
load_shelter() {
    start_service "$1"
    examples/load-shelter --url "$PETSTORE_URL" tests/data/shelter-animals.csv | tee "$scratch/loaded"
    grep -Fx "read 10000 animals back in the order of the file, identical, on 100 pages with 0 others" \
        "$scratch/loaded" >/dev/null
    stop_service
}

# Ten years of a shelter, through the store area.
replay_shelter() {
    start_service "$1"
    curl -fsS -o /dev/null "$PETSTORE_URL/pets" -H "Authorization: Bearer $PETSTORE_KEY" \
        --json '{"name": "Frank", "categoryId": 1}'
    if PETSTORE_STORE_KEY=$PETSTORE_KEY examples/replay-shelter tests/data/shelter-stays.csv 2>"$scratch/refused"; then
        echo "It replays into a store that is not empty."
        return 1
    fi
    grep -F "the store is not empty: animal 1, 'Frank', is not in the file. Nothing was changed." "$scratch/refused"
    stop_service
    start_service "$1"
    PETSTORE_STORE_KEY=$PETSTORE_KEY examples/replay-shelter tests/data/shelter-stays.csv
    "$petstore" check --database "$database"
    stop_service
}

# A mirror of a store, while both are killed.
kill_mirror() {
    local backend=$1 arguments=("${@:2}")
    if [[ $backend == postgres ]]; then
        start_cluster "$(mktemp -d -p "$scratch")"
        arguments+=(--database "$database")
    fi
    python3 -B -m tests.mirror --petstore "$petstore" --count 10 "${arguments[@]}"
    if [[ $backend == postgres ]]; then
        kill -TERM "$cluster"
        wait "$cluster" || true
    fi
}

# The largest accepted exposure is 2.0, from 0.0 (safe) to 10.0.
check_unit() {
    systemd-analyze security --offline=true --threshold=20 --no-pager \
        deploy/systemd/petstore.service | tail -n 1
}

# What the container image is built from is enough to build the program. `cargo check` reads every file
# that a build reads.
check_container_context() {
    local folder=$scratch/context
    tests/outside/container-context "$folder"
    (cd "$folder" && CARGO_TARGET_DIR=$target cargo check --locked --package petstore --bin petstore)
}

# The newest release before this version.
release_before() {
    local version
    version=$("$petstore" --version | cut -d ' ' -f 2)
    sed -n 's/^## \([0-9.]*\) - .*/\1/p' CHANGELOG.md | grep -vFx -m 1 -e "$version"
}

# The release before this one, built once from its commit, and this one on the same database.
run_release_before() {
    local version commit folder
    version=$(release_before)
    folder=$outside/release-$version
    if [[ ! -x $folder/debug/petstore ]]; then
        # The first commit with its version. A clone has it without the tag, unless the clone is shallow.
        commit=$(git log --reverse --format=%H -G"^version = \"${version//./\\.}\"\$" -- Cargo.toml | sed -n 1p)
        if [[ -z $commit ]]; then
            echo "The history of this clone does not reach back to release $version: whether it and this version can" \
                "serve one database was not checked. A complete clone (git fetch --unshallow) has it."
            return "$NOT_CHECKED"
        fi
        mkdir "$scratch/release"
        git archive "$commit" | tar -x -C "$scratch/release"
        (
            cd "$scratch/release"
            CARGO_PROFILE_DEV_DEBUG=0 cargo build --locked --bin petstore --target-dir "$folder"
        )
    fi
    for backend in sqlite postgres; do
        mkdir "$scratch/$backend"
        case $backend in
            sqlite) database=sqlite:$scratch/sqlite/pets.db ;;
            postgres) start_cluster "$scratch/postgres" ;;
        esac
        PETSTORE_CONSOLE_LISTEN=off python3 -B -m tests.outside.release_before \
            --before "$folder/debug/petstore" --petstore "$petstore" --database "$database"
    done
    kill -TERM "$cluster"
    wait "$cluster" || true
}

# With the unoptimized program, because an optimized build takes minutes and changes nothing here.
check_package() {
    local before
    before=$(release_before)
    mv "$(scripts/package --debug --version "$before-1")" "$scratch/old.deb"
    mv "$(scripts/package --debug)" "$scratch/new.deb"
    tests/outside/debian-package "$scratch/old.deb" "$scratch/new.deb"
}

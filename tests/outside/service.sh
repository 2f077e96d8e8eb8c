# Services under test: functions of scripts/test.

# Starts a PostgreSQL cluster, and sets `database` to its URL.
start_cluster() {
    local folder=$1 deadline=$((SECONDS + 60))
    mkfifo "$folder/hold"
    # The input never ends; a signal stops the cluster.
    scripts/throwaway-postgres 0<>"$folder/hold" >"$folder/url" &
    cluster=$!
    until [[ -s $folder/url ]]; do
        if ! kill -0 "$cluster" 2>/dev/null || ((SECONDS >= deadline)); then
            echo "PostgreSQL did not start."
            return 1
        fi
        sleep 0.05
    done
    database=$(<"$folder/url")
}

# start_service BACKEND [PHOTOS]: starts a service with an empty database of `sqlite` or `postgres`, and with photos in
# this place or in a folder, and sets PETSTORE_URL, PETSTORE_KEY and `database`.
start_service() {
    local folder deadline=$((SECONDS + 90))
    folder=$(mktemp -d -p "$scratch")
    service_log=$folder/log
    cluster=
    case $1 in
        sqlite) database=sqlite:$folder/pets.db ;;
        postgres) start_cluster "$folder" ;;
    esac
    PETSTORE_KEY=$("$petstore" keys create --create --name test --scope store:write --database "$database")
    # Over PostgreSQL, photos are off unless they have a place.
    "$petstore" serve --database "$database" --photos "${2:-$folder/photos}" \
        --listen 127.0.0.1:0 --log-format json --secret-key-file "$folder/secret-key" 2>"$service_log" &
    service=$!
    PETSTORE_URL=
    # The service takes a free port, and logs it when it listens.
    until [[ -n $PETSTORE_URL ]]; do
        if ! kill -0 "$service" 2>/dev/null || ((SECONDS >= deadline)); then
            echo "The service did not start:"
            cat "$service_log"
            return 1
        fi
        sleep 0.05
        PETSTORE_URL=$(sed -n 's/.*"message":"serving \(http:[^"]*\)".*/\1/p' "$service_log")
    done
    export PETSTORE_URL PETSTORE_KEY
}

# stop_service [CAUSE]: stops the service, which must exit with success and must not have logged an error, except
# with this cause.
stop_service() {
    kill -TERM "$service"
    wait "$service"
    if [[ -n $cluster ]]; then
        kill -TERM "$cluster"
        wait "$cluster" || true
    fi
    if grep '"level":"ERROR"' "$service_log" | grep -v -- "\"cause\":\"${1:-none}\""; then
        echo "The service logged errors."
        return 1
    fi
}

# 300 animals, enough for lists of many pages.
load_some_animals() {
    head -n 301 tests/data/shelter-animals.csv >"$scratch/some-animals.csv"
    examples/load-shelter --url "$PETSTORE_URL" "$scratch/some-animals.csv"
}

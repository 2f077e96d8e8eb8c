#!/usr/bin/env bash
# A tour of the pet store with curl (7.84 or newer): adds animals, reads all
# pages, and causes every kind of error. Needs two API keys:
#
#   export PETSTORE_KEY=$(petstore keys create --name tour)
#   export PETSTORE_READ_KEY=$(petstore keys create --name reader --scope read --rate-limit 5/s)
#   examples/curl/tour.sh

set -euo pipefail

url=${PETSTORE_URL:-http://127.0.0.1:8080/v1}
key=${PETSTORE_KEY:?is missing: set it to an API key}
read_key=${PETSTORE_READ_KEY:?is missing: set it to an API key of scope read, with a rate limit}

response=$(mktemp -d)
trap 'rm -rf "$response"' EXIT

fail() {
    echo "tour.sh: $*" >&2
    exit 1
}

# send ARGUMENT...: sends one request, and puts the response in `status`, `link`,
# `sunset` and the file body.
send() {
    curl --silent --show-error --max-time 30 --output "$response/body" \
        --write-out '%{http_code}\n%header{link}\n%header{sunset}\n' "$@" >"$response/head"
    { read -r status; read -r link; read -r sunset; } <"$response/head"
}

# The same, with up to five retries: after a broken connection, and after 429 and
# 503 when the time in Retry-After is over. It is safe to retry a read, and a create
# with an Idempotency-Key: the service adds the animal only once.
send_with_retries() {
    send --retry 5 --retry-all-errors "$@"
}

request() {
    send_with_retries --header "Authorization: Bearer $key" "$@"
}

# expect STATUS [CODE]
expect() {
    local code
    code=$(sed -n 's/.*"code":"\([a-z_]*\)".*/\1/p' "$response/body")
    [[ $status == "$1" ]] || fail "the response was $status $(<"$response/body")"
    [[ $1 == 2?? || $code == "$2" ]] || fail "the error code was $code, not $2"
}

# Text in the service's JSON cannot look like this, because its quotes would be escaped.
ids() {
    grep -o '"id":[0-9]*' "$response/body" | cut -d : -f 2 || true
}

# add KEY JSON: adds an animal, with this Idempotency-Key.
add() {
    request --header "Idempotency-Key: \"$1\"" --json "$2" "$url/pets"
}

# walk QUERY: follows the links from page to page, and writes every animal of every
# page to the file all, one animal per line.
walk() {
    local page=$url/pets?$1
    : >"$response/all"
    while [[ -n $page ]]; do
        request "$page"
        expect 200
        sed 's/},{/}\n{/g' "$response/body" >>"$response/all"
        echo >>"$response/all"
        page=
        if [[ $link =~ \<([^>]*)\>\;\ rel=\"next\" ]]; then
            page=${BASH_REMATCH[1]}
            # The link is relative to the host.
            if [[ $page == /* ]]; then page=$(sed 's,\(://[^/]*\).*,\1,' <<<"$url")$page; fi
        fi
    done
}

# ours: how many animals of this tour were on the pages.
ours() {
    grep -c "\"name\":\"$tour," "$response/all" || true
}

tour="Tour $(</proc/sys/kernel/random/uuid)"

statuses=(available pending sold)
added=()
for number in {1..12}; do
    name=$(</proc/sys/kernel/random/uuid)
    status=${statuses[number % 3]}
    animal="{\"name\": \"$tour, $number\", \"categoryId\": 7, \"status\": \"$status\"}"
    add "$name" "$animal"
    expect 201
    added+=("$(ids)")
done
echo "added ${#added[@]} animals, each with an Idempotency-Key"

add "$name" "$animal"
expect 201
[[ $(ids) == "${added[-1]}" ]] || fail "the animal was added twice"
echo "retried one of them: the same animal, not a second one"

walk limit=5
[[ $(ours) == 12 ]] || fail "the pages contained $(ours) of 12"
echo "read all pages by their links: each of the 12 once"

walk 'limit=5&status=sold'
sold=$(ours)
if grep '"id"' "$response/all" | grep -v '"status":"sold"'; then fail "another status"; fi
echo "read all pages with the status sold: $sold of the 12, and no other status"

request "$url/pets/${added[0]}"
expect 200
[[ $link == *'rel="successor-version"' ]] || fail "no successor"
echo "read one by its id: deprecated, ends on $sunset"

send_with_retries "$url/pets"
expect 401 missing_api_key
echo "without a key: 401 missing_api_key"

send_with_retries --header 'Authorization: Bearer wrong' "$url/pets"
expect 401 invalid_api_key
echo "with an invalid key: 401 invalid_api_key"

send_with_retries --header "Authorization: Bearer $read_key" --json "$animal" "$url/pets"
expect 403 insufficient_scope
echo "adding with a read-only key: 403 insufficient_scope"

request "$url/pets?limit=500"
expect 400 invalid_parameter
echo "requesting 500 animals at once: 400 invalid_parameter"

request --json '{"name": "Frank"}' "$url/pets"
expect 400 invalid_body
echo "adding an animal without a category: 400 invalid_body"

add "$name" '{"name": "Another", "categoryId": 7}'
expect 422 idempotency_conflict
echo "adding another animal with the same Idempotency-Key: 422 idempotency_conflict"

request "$url/pets/9007199254740991"
expect 404 not_found
echo "reading an animal that does not exist: 404 not_found"

status=
for _ in {1..100}; do
    send --header "Authorization: Bearer $read_key" "$url/pets?limit=1" || true
    [[ $status != 429 ]] || break
done
expect 429 rate_limited
send_with_retries --header "Authorization: Bearer $read_key" "$url/pets?limit=1"
expect 200
echo "exceeding the rate limit: 429 rate_limited, then 200 after the wait in Retry-After"

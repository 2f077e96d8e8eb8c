#!/usr/bin/env bash
# A tour of the pet store with curl (7.84 or newer): adds animals, walks the list,
# and meets every kind of error. Needs two keys:
#
#   export PETSTORE_KEY=$(petstore keys create --name tour)
#   export PETSTORE_READ_KEY=$(petstore keys create --name reader --scope read --rate-limit 5/s)
#   examples/curl/tour.sh

set -euo pipefail

url=${PETSTORE_URL:-http://127.0.0.1:8080/v1}
key=${PETSTORE_KEY:?is needed: an API key}
read_key=${PETSTORE_READ_KEY:?is needed: an API key of scope read, with a rate limit}

answer=$(mktemp -d)
trap 'rm -rf "$answer"' EXIT

fail() {
    echo "tour.sh: $*" >&2
    exit 1
}

# send ARGUMENT...: sends one request, and leaves what came in `status`, `link`,
# `sunset` and the file body.
send() {
    curl --silent --show-error --max-time 30 --output "$answer/body" \
        --write-out '%{http_code}\n%header{link}\n%header{sunset}\n' "$@" >"$answer/head"
    { read -r status; read -r link; read -r sunset; } <"$answer/head"
}

# The same, up to six times: after a broken connection, and after 429 and 503 as
# soon as Retry-After allows. Reading may always be repeated, and so may adding
# with an Idempotency-Key: it adds the animal once.
send_patiently() {
    send --retry 5 --retry-all-errors "$@"
}

request() {
    send_patiently --header "Authorization: Bearer $key" "$@"
}

# expect STATUS [CODE]
expect() {
    local code
    code=$(sed -n 's/.*"code":"\([a-z_]*\)".*/\1/p' "$answer/body")
    [[ $status == "$1" ]] || fail "answered $status $(<"$answer/body")"
    [[ $1 == 2?? || $code == "$2" ]] || fail "answered $code, not $2"
}

# In the service's JSON, no text can look like this: its quotes would be escaped.
ids() {
    grep -o '"id":[0-9]*' "$answer/body" | cut -d : -f 2 || true
}

# add NAME JSON: adds an animal in a request of this name.
add() {
    request --header "Idempotency-Key: \"$1\"" --json "$2" "$url/pets"
}

# walk QUERY: follows the links from page to page, and puts every animal of every
# page in the file all, one a line.
walk() {
    local page=$url/pets?$1
    : >"$answer/all"
    while [[ -n $page ]]; do
        request "$page"
        expect 200
        sed 's/},{/}\n{/g' "$answer/body" >>"$answer/all"
        echo >>"$answer/all"
        page=
        if [[ $link =~ \<([^>]*)\>\;\ rel=\"next\" ]]; then
            page=${BASH_REMATCH[1]}
            # The link begins with the path.
            if [[ $page == /* ]]; then page=$(sed 's,\(://[^/]*\).*,\1,' <<<"$url")$page; fi
        fi
    done
}

# ours: how many animals of this tour the walk has met.
ours() {
    grep -c "\"name\":\"$tour," "$answer/all" || true
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
echo "sent one of them again: the same animal, not a second one"

walk limit=5
[[ $(ours) == 12 ]] || fail "the walk met $(ours) of 12"
echo "walked the list by its links: each of the 12 once"

walk 'limit=5&status=sold'
sold=$(ours)
if grep '"id"' "$answer/all" | grep -v '"status":"sold"'; then fail "another status"; fi
echo "walked those with the status sold: $sold of the 12, and no other status"

request "$url/pets/${added[0]}"
expect 200
[[ $link == *'rel="successor-version"' ]] || fail "no successor"
echo "read one by its id: deprecated, ends on $sunset"

send_patiently "$url/pets"
expect 401 missing_api_key
echo "without a key: 401 missing_api_key"

send_patiently --header 'Authorization: Bearer wrong' "$url/pets"
expect 401 invalid_api_key
echo "with a wrong key: 401 invalid_api_key"

send_patiently --header "Authorization: Bearer $read_key" --json "$animal" "$url/pets"
expect 403 insufficient_scope
echo "adding with a key that may only read: 403 insufficient_scope"

request "$url/pets?limit=500"
expect 400 invalid_parameter
echo "asking for 500 animals at once: 400 invalid_parameter"

request --json '{"name": "Frank"}' "$url/pets"
expect 400 invalid_body
echo "adding an animal without a category: 400 invalid_body"

add "$name" '{"name": "Another", "categoryId": 7}'
expect 422 idempotency_conflict
echo "adding another animal under the same Idempotency-Key: 422 idempotency_conflict"

request "$url/pets/9007199254740991"
expect 404 not_found
echo "reading an animal that is not there: 404 not_found"

status=
for _ in {1..100}; do
    send --header "Authorization: Bearer $read_key" "$url/pets?limit=1" || true
    [[ $status != 429 ]] || break
done
expect 429 rate_limited
send_patiently --header "Authorization: Bearer $read_key" "$url/pets?limit=1"
expect 200
echo "asking too often: 429 rate_limited, waited as long as Retry-After said, was answered"

#!/usr/bin/env bash
# A second tour with curl (7.84 or newer), for the people in the store: adds an animal,
# reserves, sells and takes it back, changes it, gives it a photo, and withdraws it.
# Needs an API key for the store area:
#
#   export PETSTORE_STORE_KEY=$(petstore keys create --name staff --scope store:write)
#   examples/curl/store-tour.sh

set -euo pipefail

url=${PETSTORE_URL:-http://127.0.0.1:8080/v1}
key=${PETSTORE_STORE_KEY:?is missing: set it to an API key of scope store:write}

response=$(mktemp)
picture=$(mktemp)
trap 'rm -f "$response" "$picture"' EXIT

# A PNG of one pixel.
base64 --decode >"$picture" <<<'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg=='

# Retries after a broken connection, and after 429 and 503, when the time in Retry-After is
# over. The file has only the last response; standard output would have all of them.
request() {
    curl --silent --show-error --max-time 30 --retry 5 --retry-all-errors --output "$response" "$@"
}

# send STATUS METHOD PATH [JSON|@PICTURE [VERSION]]: sends a request, and puts the content
# of the response in `body`. With an Idempotency-Key, every change is safe to retry.
send() {
    local options=(--request "$2" --header "Authorization: Bearer $key") status
    [[ $2 == GET ]] || options+=(--header "Idempotency-Key: \"$(</proc/sys/kernel/random/uuid)\"")
    [[ -z ${4-} ]] || options+=(--json "$4")
    [[ ${4-} != @* ]] || options+=(--header "Content-Type: image/png")
    [[ -z ${5-} ]] || options+=(--header "If-Match: \"$5\"")
    status=$(request --write-out '%{http_code}' "${options[@]}" "$url/$3")
    body=$(<"$response")
    [[ $status == "$1" ]] || { echo "store-tour.sh: the response was $status $body" >&2; exit 1; }
}

# of NAME: the first member with this name in the last response. These members have
# no quotes in their values.
of() {
    grep -o "\"$1\":[^,}]*" <<<"$body" | head -n 1 | cut -d : -f 2 | tr -d '"'
}

name="Frank $(</proc/sys/kernel/random/uuid)"
microchip=276098$(shuf --input-range 100000000-999999999 --head-count 1)
send 201 POST store/pets "{\"name\": \"$name\", \"categoryId\": 7,
    \"fields\": {\"species\": \"Cat\", \"breed\": \"Siamese\", \"microchip\": \"$microchip\"}}"
pet=$(of id)
echo "added an animal with values: it is a $(of species), and $(of status)"

send 200 GET "store/pets?field.microchip=$microchip"
[[ $(of id) == "$pet" ]]
echo "searched it by its microchip: found $(grep -o '"microchip":' <<<"$body" | wc -l)"

send 201 POST store/orders "{\"petId\": $pet, \"reference\": \"R-1\"}"
order=$(of id) status=$(of status)
send 200 GET "store/pets/$pet"
[[ $(of orderId) == "$order" ]]
echo "placed an order: it is $status, and the animal $(of status)"

send 409 POST store/orders "{\"petId\": $pet}"
code=$(of code) body=${body#*'"current":'}
echo "reserving the animal again: 409 $code, it is $(of status)"

for command in complete return; do
    send 200 POST "store/orders/$order/$command" '{}'
    status=$(of status)
    send 200 GET "store/pets/$pet"
    echo "${command%e}ed the order: it is $status, and the animal $(of status)"
done

version=$(of version)
send 200 PATCH "store/pets/$pet" "{\"name\": \"Ä$name\"}" "$version"
changed=$(of version)
echo "changed the name: from version $version to $changed"

send 412 PATCH "store/pets/$pet" '{"name": "Lola"}' "$version"
echo "changing it with the old version: 412 $(of code), it has version $(of version)"
send 428 PATCH "store/pets/$pet" '{}'
echo "changing it without a version: 428 $(of code)"
send 400 PATCH "store/pets/$pet" '{"nmae": "Lola"}' "$changed"
echo "changing a member that does not exist: 400 $(of code)"

prefix="a${name^^}"
send 200 GET "store/pets?name=${prefix// /%20}"
[[ $(of id) == "$pet" ]]
echo "searched it by its name, without accents: found $(grep -o '"id":' <<<"$body" | wc -l)"

send 201 POST "store/pets/$pet/photos" "@$picture"
size="$(of width) by $(of height)" small=$(of small)
send 200 GET "store/pets/$pet"
echo "added a photo: it has $size pixels, and the animal version $(of version)"
type=$(request --fail --write-out '%{content_type}' "${url%/v1}$small")
echo "fetched its small picture without a key: $type"

send 200 POST "store/pets/$pet/withdraw" '{"reason": "transferred", "note": "To the shelter in Petaluma."}' "$(of version)"
echo "withdrew it: the reason is $(of reason)"
send 404 GET "pets/$pet"
echo "reading it by the contract: 404 $(of code)"

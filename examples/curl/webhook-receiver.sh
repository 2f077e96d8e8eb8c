#!/usr/bin/env bash
# A receiver of webhooks as a shell script, with openssl. It serves one connection on its
# standard input and output, as systemd, inetd and socat call such programs, and adds a
# line for each message to a file:
#
#   export WEBHOOK_SECRET=whsec_...   # printed by `petstore webhooks add`
#   export WEBHOOK_MESSAGES=messages  # the file
#   systemd-socket-activate --listen 127.0.0.1:9000 --accept --inetd \
#       -E WEBHOOK_SECRET -E WEBHOOK_MESSAGES examples/curl/webhook-receiver.sh

set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

respond() {
    printf 'HTTP/1.1 %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$1"
    exit
}

# keyed BYTE: the key of the signature, 64 bytes, each combined with BYTE. The key never
# becomes an argument of a program, which other users could read.
keyed() {
    local hex at
    hex=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
    hex+=$(printf '0%.0s' {1..128})
    for ((at = 0; at < 128; at += 2)); do
        printf "\\x$(printf %02x $((16#${hex:at:2} ^ $1)))"
    done
}

# HMAC-SHA-256 of the standard input, as Base64.
signature() {
    { keyed 0x36; cat; } | openssl dgst -sha256 -binary >"$folder/inner"
    { keyed 0x5c; cat "$folder/inner"; } | openssl dgst -sha256 -binary | openssl base64 -A
}

declare -A field
read -r _
while IFS= read -r line && line=${line%$'\r'} && [[ -n $line ]]; do
    name=${line%%:*} value=${line#*:}
    field[${name,,}]=${value# }
done
id=${field[webhook-id]-} timestamp=${field[webhook-timestamp]-} length=${field[content-length]-}
[[ $id =~ ^[A-Za-z0-9_]+$ && $timestamp =~ ^[0-9]{1,11}$ && $length =~ ^[0-9]{1,7}$ ]] || respond '400 Bad Request'
# The exact bytes: parsed and written again, they would have another signature.
head -c "$length" >"$folder/body"

# The clocks may differ by five minutes.
age=$((EPOCHSECONDS - 10#$timestamp))
((-300 <= age && age <= 300)) || respond '400 Bad Request'
expected="v1,$({ printf '%s.%s.' "$id" "$timestamp"; cat "$folder/body"; } | signature)"
# There are two signatures for a day after a rotation.
[[ " ${field[webhook-signature]-} " == *" $expected "* ]] || respond '400 Bad Request'

# Once for each webhook-id.
exec {lock}>>"$WEBHOOK_MESSAGES"
flock "$lock"
type=$(sed -E 's/^\{"type":"([a-z._]+)".*/\1/' "$folder/body")
grep -q " $id$" "$WEBHOOK_MESSAGES" || echo "$type $id" >&"$lock"
respond '204 No Content'

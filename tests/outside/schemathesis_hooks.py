"""What schemathesis must be told about cursors and idempotency keys.

A cursor is opaque: the service sends it in the `Link` of a page, for the `status` of
that page, and rejects all others, which no schema can express. So in valid requests,
a generated cursor is replaced by one that the service sent for the same status.
Invalid requests stay unchanged.

An `Idempotency-Key` is for one animal. In valid requests, a key that was sent before
is replaced by a new one.

Reads PETSTORE_URL (with the version segment) and PETSTORE_KEY.
"""

import os
import re
import zlib
from collections import defaultdict
from urllib.parse import parse_qs, urljoin, urlsplit
from urllib.request import Request, urlopen

import schemathesis
from schemathesis.generation.meta import TestPhase

URL = os.environ["PETSTORE_URL"]
KEY = os.environ["PETSTORE_KEY"]
STATUSES = [None, "available", "pending", "sold"]

# The cursors that the service has sent so far, in order, by status (None without a status).
handed_out = defaultdict(list)

# The idempotency keys sent so far, without quotes.
spent = set()


def note_next_page(link):
    """Keeps the cursor of a `Link: <...>; rel="next"`, and returns its target."""
    match = re.search(r'<([^>]*)>; rel="next"', link or "")
    if match is None:
        return None
    query = parse_qs(urlsplit(match[1]).query)
    [status], [cursor] = query.get("status", [None]), query["cursor"]
    if cursor not in handed_out[status]:
        handed_out[status].append(cursor)
    return match[1]


def walk(status):
    """Reads every page of a list, so that there are cursors from the start."""
    page = f"{URL}/pets?limit=7" + (f"&status={status}" if status else "")
    while page:
        with urlopen(Request(page, headers={"Authorization": f"Bearer {KEY}"})) as response:
            reference = note_next_page(response.headers["Link"])
        page = reference and urljoin(page, reference)
    if not handed_out[status]:
        raise SystemExit(f"too few animals for a second page of the list, status {status}")


for each in STATUSES:
    walk(each)


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Adds a link from each page to the next one for the stateful phase to follow.

    The document cannot declare it, because the expressions of OpenAPI use a whole
    header, and the cursor is a part of one. It counts as inferred, because a last page
    has no link, which is not an error.
    """
    raw_schema["paths"]["/pets"]["get"]["responses"]["200"]["links"] = {
        "NextPage": {
            "operationId": "listPets",
            "x-schemathesis": {"is_inferred": True},
            "parameters": {
                "status": "$request.query.status",
                "cursor": "$response.header.Link#regex:cursor=([A-Za-z0-9_-]+)",
            },
        }
    }


def must_be_accepted(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


@schemathesis.hook
def before_call(context, case, kwargs):
    if must_be_accepted(case):
        use_genuine_cursor(case)
        use_new_idempotency_key(case)


def use_new_idempotency_key(case):
    key = (case.headers or {}).get("Idempotency-Key")
    if key is None:
        return
    if key.strip('"') in spent:
        key = case.headers["Idempotency-Key"] = f'"schemathesis-{len(spent)}"'
    spent.add(key.strip('"'))


def use_genuine_cursor(case):
    query = case.query or {}
    if case.operation.label != "GET /pets" or "cursor" not in query:
        return
    # The examples of the document must be valid unchanged.
    if case.meta.phase.name == TestPhase.EXAMPLES:
        return
    genuine = handed_out[query.get("status")]
    if query["cursor"] not in genuine:
        # Chosen by the generated value, so a seed always produces the same requests.
        case.query["cursor"] = genuine[zlib.crc32(query["cursor"].encode()) % len(genuine)]


@schemathesis.hook
def after_call(context, case, response):
    if case.operation.label == "GET /pets":
        for link in response.headers.get("link", []):
            note_next_page(link)

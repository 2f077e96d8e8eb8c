"""What schemathesis must be told about the store area.

No schema can express which animal is for sale, or which version it has. So each
valid request gets a subject that it fits: a new animal, with a new order where the
operation needs one, and the present version as `If-Match`. A request that
follows a link keeps its animal, note or category, if that fits. Cursors are taken from a
page with the same filters, the feed waits for a second at most, `expiresAt` is in the future, and no `Idempotency-Key` is
used twice. A picture is the same for every photo and logo. Texts of a search and of the profile have a visible character. Fields are defined and deleted under one name, and animals get values of another one. Invalid requests
stay unchanged.

Reads PETSTORE_URL (with the version segment) and PETSTORE_KEY.
"""

import json
import os
import re
import unicodedata
import zlib
from datetime import datetime, timedelta, timezone
from itertools import count
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlencode
from urllib.request import Request, urlopen

import schemathesis
from hypothesis import strategies
from schemathesis.generation.meta import TestPhase
from schemathesis.transport.serialization import Binary

URL = os.environ["PETSTORE_URL"]
KEY = os.environ["PETSTORE_KEY"]
numbers = count(1)

# The field that requests define and delete.
OWN_FIELD = "schemathesis"

# The idempotency keys sent so far, without quotes.
spent = set()

# The cursors that the service has sent so far, each with its list and filters.
handed_out = set()


def send(method, path, body=None, **headers):
    """The response to a request of these hooks: its body and header fields."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    headers = {"Content-Type": "application/json"} | headers | {"Authorization": f"Bearer {KEY}"}
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    with urlopen(Request(URL + path, data, headers, method=method)) as response:
        text = response.read()
        return json.loads(text) if text else None, response.headers


def new_animal():
    return send("POST", "/pets", {"name": "Frank", "categoryId": 1})[0]["id"]


def new_withdrawn_animal():
    animal = new_animal()
    send("POST", f"/store/pets/{animal}/withdraw", {"reason": "other"}, If_Match='"1"')
    return animal


def new_order(**members):
    key = f'"hooks-{next(numbers)}"'
    order = {"petId": new_animal(), **members}
    return send("POST", "/store/orders", order, Idempotency_Key=key)[0]["id"]


def new_sale():
    return new_order(status="completed")


def new_cancelled_order():
    order = new_order()
    send("POST", f"/store/orders/{order}/cancel", {})
    return order


def new_change():
    animal = new_animal()
    send("PATCH", f"/store/pets/{animal}", {"name": "Fido"}, If_Match='"1"')
    entries, _ = send("GET", f"/store/audit?subject=pet:{animal}")
    return entries[-1]["seq"]


# The subject of an operation or command: its parameter, how to make one, and its version.
SUBJECTS = {
    "getStorePet": ("petId", new_animal, 1),
    "patchPet": ("petId", new_animal, 1),
    "withdrawPet": ("petId", new_animal, 1),
    "restorePet": ("petId", new_withdrawn_animal, 2),
    "placeOrder": ("petId", new_animal, None),
    "getOrder": ("orderId", new_order, 1),
    "patchOrder": ("orderId", new_order, 1),
    "completeOrder": ("orderId", new_order, 1),
    "cancelOrder": ("orderId", new_order, 1),
    "returnOrder": ("orderId", new_sale, 1),
    "reopenOrder": ("orderId", new_cancelled_order, 2),
    "revertChange": ("seq", new_change, None),
}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Adds links from a page to the next one and to its first element, and from a batch to its
    first result.

    The document cannot declare them, because a page can be empty, and a batch returns animals and
    orders. They count as inferred, because a link that leads nowhere is not an error.
    """
    paths = raw_schema["paths"]
    for path, lists, gets, parameter in [
        ("/store/pets", "listStorePets", "getStorePet", "petId"),
        ("/store/orders", "listOrders", "getOrder", "orderId"),
        ("/store/categories", "listCategories", None, None),
        ("/store/audit", "listAudit", None, None),
    ]:
        filters = [
            name.split("/")[-1]
            for name in (each.get("$ref", "") for each in paths[path]["get"]["parameters"])
        ]
        names = [raw_schema["components"]["parameters"][name]["name"] for name in filters]
        links = {
            "NextPage": {
                "operationId": lists,
                "x-schemathesis": {"is_inferred": True},
                "parameters": {
                    name: f"$request.query.{name}"
                    for name in names
                    if name not in ("cursor", "If-None-Match")
                }
                | {"cursor": "$response.header.Link#regex:cursor=([A-Za-z0-9_-]+)"},
            }
        }
        if gets:
            links["First"] = {
                "operationId": gets,
                "x-schemathesis": {"is_inferred": True},
                "parameters": {parameter: "$response.body#/0/id"},
            }
        paths[path]["get"]["responses"]["200"]["links"] = links
    paths["/store/batch"]["post"]["responses"]["200"]["links"] = {
        "First": {
            "operationId": "getStorePet",
            "x-schemathesis": {"is_inferred": True},
            "parameters": {"petId": "$response.body#/0/id"},
        }
    }
    restore_what_generators_reject(raw_schema)


def restore_what_generators_reject(raw_schema):
    """Adds what the document leaves out, because generators of clients fail at it: the animal that an order of a
    link is for, and the exact form of times."""
    components = raw_schema["components"]
    for place, member in [
        (raw_schema["paths"]["/store/pets/{petId}"]["get"]["responses"]["200"], "id"),
        (components["responses"]["PetChanged"], "id"),
        (raw_schema["paths"]["/store/orders/{orderId}/cancel"]["post"]["responses"]["200"], "petId"),
        (raw_schema["paths"]["/store/orders/{orderId}/return"]["post"]["responses"]["200"], "petId"),
    ]:
        place["links"]["PlaceOrder"]["requestBody"] = {"petId": f"$response.body#/{member}"}
    for name in ["Timestamp", "NullableTimestamp"]:
        pattern = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$"
        components["schemas"][name]["pattern"] = pattern


def picture():
    """A PNG of one pixel."""
    def chunk(kind, data):
        check = zlib.crc32(kind + data)
        return len(data).to_bytes(4, "big") + kind + data + check.to_bytes(4, "big")

    head = b"\0\0\0\1\0\0\0\1\x08\0\0\0\0"
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(b"\0\0"))
        + chunk(b"IEND", b"")
    )


for media_type in ("image/jpeg", "image/png", "image/webp", "image/gif"):
    schemathesis.openapi.media_type(media_type, strategies.just(picture()))


def new_note():
    """A new animal, and the id of its only note."""
    animal = new_animal()
    note, _ = send("POST", f"/store/pets/{animal}/notes", {"text": "Afraid of men"})
    return animal, note["id"]


def new_photo():
    """A new animal, and the id of its only photo. The animal has the version 2."""
    animal = new_animal()
    photo, _ = send("POST", f"/store/pets/{animal}/photos", picture(), Content_Type="image/png")
    return animal, photo["id"]


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    use_new_idempotency_key(case)
    move_times(case.body)
    operation = case.operation.definition.raw["operationId"]
    if case.query:
        use_plain_values(case.query)
        use_genuine_cursor(case)
    if operation == "followChanges":
        use_position(case)
    if "webhookId" in (case.path_parameters or {}) and "If-Match" in (case.headers or {}):
        use_present_version(case)
    if operation == "patchProfile":
        use_valid_profile(case)
    if operation in ("putLogo", "deleteLogo") and "If-Match" in (case.headers or {}):
        case.headers["If-Match"] = send("GET", "/store/profile")[1]["ETag"]
    if operation in ("putField", "deleteField"):
        use_own_field(case, is_put=operation == "putField")
    for animal in case.body if isinstance(case.body, list) else [case.body]:
        use_valid_values(animal)
    if operation in ("addPhoto", "putLogo"):
        case.media_type, case.body = "image/png", Binary(picture())
        case.headers["Content-Type"] = "image/png"
    if operation == "orderPhotos":
        case.path_parameters["petId"], photo = new_photo()
        case.body = [photo]
        if "If-Match" in (case.headers or {}):
            case.headers["If-Match"] = '"2"'
    if case.meta.phase.name == TestPhase.STATEFUL and fits(operation, case):
        return
    if operation == "putCategory":
        use_one_condition(case)
    elif operation == "addPhoto":
        case.path_parameters["petId"] = new_animal()
    elif operation in ("getPhoto", "patchPhoto", "deletePhoto"):
        case.path_parameters["petId"], case.path_parameters["photoId"] = new_photo()
        if "If-Match" in (case.headers or {}):
            case.headers["If-Match"] = '"2"'
    elif operation == "addNote":
        case.path_parameters["petId"] = new_animal()
    elif operation == "listNotes":
        use_animal_with_notes(case)
    elif operation in ("getNote", "patchNote", "deleteNote"):
        case.path_parameters["petId"], case.path_parameters["noteId"] = new_note()
        if "If-Match" in (case.headers or {}):
            case.headers["If-Match"] = '"1"'
    elif operation == "deleteCategory":
        category = case.path_parameters["categoryId"] = -next(numbers)
        send("PUT", f"/store/categories/{category}", {"label": f"Dogs {category}"}, If_None_Match="*")
        case.headers["If-Match"] = '"1"'
    elif operation == "runBatch":
        for command in case.body:
            use_fitting_subject(command["command"], command, command)
    elif operation in SUBJECTS:
        place = case.body if operation == "placeOrder" else case.path_parameters
        use_fitting_subject(operation, place, case.headers)


def use_animal_with_notes(case):
    """A cursor belongs to the notes on one animal."""
    animal, _ = new_note()
    case.path_parameters["petId"] = animal
    if "cursor" in (case.query or {}):
        send("POST", f"/store/pets/{animal}/notes", {"text": "Fine with children"})
        _, headers = send("GET", f"/store/pets/{animal}/notes?limit=1")
        case.query["cursor"] = re.search("cursor=([A-Za-z0-9_-]+)", headers["Link"])[1]


def fits(operation, case):
    """Whether a request of the stateful phase can be sent with the subject that it has."""
    given = (case.headers or {}).get("If-Match", "")
    if operation == "putCategory":
        return re.fullmatch('"[0-9]+"', given) and "If-None-Match" not in case.headers
    if operation not in ("patchPet", "withdrawPet", "restorePet"):
        return True
    try:
        animal, headers = send("GET", f"/store/pets/{case.path_parameters['petId']}")
    except HTTPError:
        return False
    is_withdrawn = animal["withdrawn"] is not None
    return headers["ETag"] == given and is_withdrawn == (operation == "restorePet")


@schemathesis.hook
def after_call(context, case, response):
    for link in response.headers.get("link", []):
        for target in re.findall(r'<([^>]*)>; rel="next"', link):
            handed_out.add(walk_of(*target.split("?")))


def walk_of(path, query):
    """A list, its filters and a cursor."""
    parts = parse_qs(query, keep_blank_values=True) if isinstance(query, str) else query
    texts = {name: str(*value) if isinstance(value, list) else as_text(value) for name, value in parts.items()}
    return path.rsplit("/", 1)[-1], frozenset(texts.items() - {("limit", texts.get("limit"))})


def as_text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def use_fitting_subject(operation, subject, conditions):
    """Puts a subject into `subject`, and its version into `conditions`."""
    if operation not in SUBJECTS:
        return
    parameter, new, version = SUBJECTS[operation]
    subject[parameter] = new()
    if conditions and "If-Match" in conditions:
        conditions["If-Match"] = f'"{version}"'
    if conditions and "ifMatch" in conditions:
        as_text = isinstance(conditions["ifMatch"], str)
        conditions["ifMatch"] = f'"{version}"' if as_text else version


def use_present_version(case):
    """A webhook may have been changed since the version that the request names."""
    try:
        _, headers = send("GET", f"/store/webhooks/{case.path_parameters['webhookId']}")
        case.headers["If-Match"] = headers["ETag"]
    except HTTPError:
        pass


def use_position(case):
    """The feed begins at a position that it has, and waits at most for a second."""
    (case.headers or {}).pop("Last-Event-ID", None)
    if "after" in (case.query or {}):
        case.query["after"] = "start"
    if "wait" in (case.query or {}):
        case.query["wait"] = "0s" if case.query["wait"] == "0s" else "1s"


def use_one_condition(case):
    """A category is created by one condition, or changed by the other."""
    category = case.path_parameters["categoryId"] = -next(numbers)
    if "If-Match" in case.headers:
        case.headers.pop("If-None-Match", None)
        case.headers["If-Match"] = '"1"'
        send("PUT", f"/store/categories/{category}", {"label": f"Dogs {category}"}, If_None_Match="*")
    else:
        case.headers["If-None-Match"] = "*"


def use_own_field(case, is_put):
    """A field that no animal has a value of, in its present version, or in none if it is to be created."""
    case.path_parameters["name"] = OWN_FIELD
    headers = case.headers
    if is_put:
        use_valid_members(case.body)
        if "If-Match" not in headers:
            headers["If-None-Match"] = "*"
            version = version_of_own_field()
            if version:
                send("DELETE", f"/store/fields/{OWN_FIELD}", If_Match=version)
            return
        headers.pop("If-None-Match", None)
    if not version_of_own_field():
        send("PUT", f"/store/fields/{OWN_FIELD}", {"label": "Temper", "kind": "text"}, If_None_Match="*")
    headers["If-Match"] = version_of_own_field()


def version_of_own_field():
    """Its version as a tag; None if it does not exist."""
    versions = [field["version"] for field in send("GET", "/store/fields")[0] if field["name"] == OWN_FIELD]
    return f'"{versions[0]}"' if versions else None


def use_valid_members(field):
    """Only a choice has choices and labels of them, which differ in more than their case, and only some kinds are unique."""
    if field["kind"] == "choice":
        field["choices"] = ["Calm", "Lively", "Shy"]
        if field.get("choiceLabels"):
            field["choiceLabels"] = {"Calm": "Quiet"}
    else:
        field.pop("choices", None)
        field.pop("choiceLabels", None)
    if field["kind"] not in ("text", "integer"):
        field.pop("unique", None)


def use_valid_profile(case):
    """Texts that a reader can see, URLs that have a host, and the present version."""
    case.headers["If-Match"] = send("GET", "/store/profile")[1]["ETag"]
    use_visible_texts(case.body, ("name", "address", "hours", "about", "contract"))
    if not (case.body.get("email") or "").isascii():
        case.body["email"] = "hello@shelter.example"
    if case.body.get("contactPage"):
        case.body["contactPage"] = "https://shelter.example/ask?animal={id}"
    if case.body.get("timeZone"):
        case.body["timeZone"] = "Europe/London"
    for link in case.body.get("links") or []:
        use_visible_texts(link, ("label",))
        link["url"] = "https://shelter.example/imprint"


def use_visible_texts(values, names):
    for name in names:
        value = values.get(name)
        # No pattern has the controls above U+007F, because generated Ruby could not be parsed.
        if isinstance(value, str) and (not re.search("[!-~]", value) or re.search("[\x80-\x9f]", value)):
            values[name] = "Paws"


def use_valid_values(animal):
    """Values of a field that exists, as its kind allows them."""
    if isinstance(animal, dict) and animal.get("fields"):
        removes = None in animal["fields"].values()
        animal["fields"] = {"breed": None if removes else "Siamese"}


def use_new_idempotency_key(case):
    key = (case.headers or {}).get("Idempotency-Key")
    if key is None:
        return
    if key.strip('"') in spent:
        key = case.headers["Idempotency-Key"] = f'"schemathesis-{next(numbers)}"'
    spent.add(key.strip('"'))


def move_times(body):
    """Moves each `expiresAt` to a time between now and 400 days, chosen by the generated value."""
    if isinstance(body, list):
        for command in body:
            move_times(command)
    elif isinstance(body, dict) and isinstance(body.get("expiresAt"), str):
        if body.get("status") == "completed":
            del body["expiresAt"]
        else:
            days = 1 + zlib.crc32(body["expiresAt"].encode()) % 398
            time = datetime.now(timezone.utc) + timedelta(days=days)
            body["expiresAt"] = time.strftime("%Y-%m-%dT%H:%M:%SZ")


def use_plain_values(query):
    for name in [name for name in query if name.startswith("field.") or name == "field"]:
        # A field that exists, with a value that its kind allows.
        del query[name]
        query["field.breed"] = "Siamese"
    for name, value in query.items():
        # In JSON Schema, 1.0 is an integer; a query has one spelling.
        if isinstance(value, float):
            query[name] = int(value)
    if "q" in query:
        # One character is visible, and there are at most 16 words.
        use_visible_texts(query, ("q",))
        query["q"] = " ".join(str(query["q"]).split()[:16])
    folded = unicodedata.normalize("NFKD", str(query.get("name", ""))).casefold()
    if len(unicodedata.normalize("NFKD", folded)) > 64:
        # One character becomes 18 at most.
        query["name"] = query["name"][:3]


def use_genuine_cursor(case):
    """The cursor of the second page of one element; without a second page, none."""
    if "cursor" not in case.query:
        return
    if walk_of(case.path, case.query) in handed_out:
        return
    filters = {name: as_text(value) for name, value in case.query.items() if name != "cursor"}
    try:
        _, headers = send("GET", f"{case.path}?{urlencode(filters | {'limit': 1})}")
        match = re.search(r"cursor=([A-Za-z0-9_-]+)", headers["Link"] or "")
    except HTTPError:
        match = None
    if match:
        case.query["cursor"] = match[1]
    else:
        del case.query["cursor"]

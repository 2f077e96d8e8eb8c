"""The tour with a client that openapi-python-client generates from the contract:

    pip install -r examples/python/requirements.txt
    openapi-python-client generate --path openapi/openapi.yaml --meta none --output-path petstore
    PYTHONPATH=. python3 examples/python/generated.py
"""

import os
import re
import time
import uuid

import httpx
from petstore import AuthenticatedClient, Client
from petstore.api.pets import create_pet, get_pet, list_pets
from petstore.models import Error, NewPet, PetStatus
from petstore.types import UNSET

URL = os.environ.get("PETSTORE_URL", "http://127.0.0.1:8080/v1")
ATTEMPTS = 6

waits = 0


class Retrying(httpx.HTTPTransport):
    """Retries a request if its connection broke, and after 429 and 503 when the
    time in `Retry-After` is over. It is safe to retry a read, and a create with an
    `Idempotency-Key`."""

    def handle_request(self, request):
        global waits
        for attempt in range(1, ATTEMPTS):
            seconds = 0.1 * 2**attempt
            try:
                response = super().handle_request(request)
                if response.status_code not in (429, 503):
                    return response
                waits += response.status_code == 429
                seconds = float(response.headers.get("Retry-After", seconds))
                response.close()
            except httpx.TransportError:
                pass
            time.sleep(seconds)
        return super().handle_request(request)


def connect(key):
    arguments = {"timeout": httpx.Timeout(30), "httpx_args": {"transport": Retrying()}}
    if key is None:
        return Client(URL, **arguments)
    return AuthenticatedClient(URL, token=key, **arguments)


def add(client, animal, idempotency_key):
    """Adds an animal, only once even if the request is retried."""
    key = f'"{idempotency_key}"'
    return create_pet.sync(client=client, body=animal, idempotency_key=key)


def walk(client, status=UNSET):
    """Every animal, page after page. The cursor is in the link of each page."""
    cursor = UNSET
    while cursor is not None:
        page = list_pets.sync_detailed(client=client, limit=5, status=status, cursor=cursor)
        yield from page.parsed
        link = re.search(r'[?&]cursor=([^&>]*)[^>]*>; rel="next"', page.headers.get("Link", ""))
        cursor = link and link[1]


def error_of(response):
    """The error that the response must be."""
    assert isinstance(response, Error), response
    return f"{response.status} {response.code}"


def main():
    petstore = connect(os.environ["PETSTORE_KEY"])
    reader = connect(os.environ["PETSTORE_READ_KEY"])

    tour = f"Tour {uuid.uuid4()}"
    animals = [
        NewPet(name=f"{tour}, {number}", category_id=7, status=list(PetStatus)[number % 3])
        for number in range(12)
    ]
    keys = [uuid.uuid4() for _ in animals]
    added = [add(petstore, animal, key) for animal, key in zip(animals, keys)]
    print(f"added {len(added)} animals, each with an Idempotency-Key")

    assert add(petstore, animals[0], keys[0]) == added[0]
    print("retried one of them: the same animal, not a second one")

    walked = [animal for animal in walk(petstore) if animal.name.startswith(tour)]
    assert walked == added
    print(f"read all pages by their links: each of the {len(walked)} once")

    sold = list(walk(petstore, PetStatus.SOLD))
    assert {animal.status for animal in sold} == {PetStatus.SOLD}
    ours = [animal for animal in sold if animal.name.startswith(tour)]
    print(f"read all pages with the status sold: {len(ours)} of the 12, and no other status")

    one = get_pet.sync_detailed(added[0].id, client=petstore)
    assert one.parsed == added[0] and one.headers["Deprecation"].startswith("@")
    assert one.headers["Link"].endswith('rel="successor-version"')
    print(f"read one by its id: deprecated, ends on {one.headers['Sunset']}")

    print("without a key:", error_of(list_pets.sync(client=connect(None))))
    print("with an invalid key:", error_of(list_pets.sync(client=connect("wrong"))))
    print(
        "adding with a read-only key:", error_of(add(reader, animals[0], uuid.uuid4()))
    )
    print("requesting 500 animals at once:", error_of(list_pets.sync(client=petstore, limit=500)))
    print(
        "adding another animal with the same Idempotency-Key:",
        error_of(add(petstore, animals[1], keys[0])),
    )
    print(
        "reading an animal that does not exist:", error_of(get_pet.sync(2**53 - 1, client=petstore))
    )

    for _ in range(100):
        assert isinstance(list_pets.sync(client=reader, limit=1), list)
        if waits:
            break
    else:
        raise AssertionError("the rate limit was never reached")
    print("exceeding the rate limit: 429 rate_limited, then 200 after the wait in Retry-After")


if __name__ == "__main__":
    main()

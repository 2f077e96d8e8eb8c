#!/usr/bin/env python3
"""A tour of the pet store in Python, with requests: adds animals, reads all
pages, and causes every kind of error. Needs two API keys:

    export PETSTORE_KEY=$(petstore keys create --name tour)
    export PETSTORE_READ_KEY=$(petstore keys create --name reader --scope read --rate-limit 5/s)
    pip install requests
    python3 examples/python/tour.py
"""

import os
import uuid
from urllib.parse import urljoin

import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

URL = os.environ.get("PETSTORE_URL", "http://127.0.0.1:8080/v1") + "/"


class PetstoreError(Exception):
    """The service rejected a request. `code` is for programs, the text for people."""

    def __init__(self, error):
        super().__init__(f"{error['status']} {error['code']}: {error['message']}")
        self.status, self.code = error["status"], error["code"]
        self.current = error.get("current")


class Petstore:
    """The catalogue, accessed with one API key."""

    # A request without a response, or with 429 or 503, is retried when the time in
    # Retry-After is over. It is safe to retry a read, and a create with an
    # Idempotency-Key: the service adds the animal only once.
    RETRY = Retry(
        total=5,
        backoff_factor=0.2,
        status_forcelist=[429, 503],
        allowed_methods=None,
        raise_on_status=False,
    )

    def __init__(self, key):
        self.session = requests.Session()
        self.session.mount("http://", HTTPAdapter(max_retries=self.RETRY))
        self.session.mount("https://", HTTPAdapter(max_retries=self.RETRY))
        if key:
            self.session.headers["Authorization"] = f"Bearer {key}"

    def add(self, animal, idempotency_key=None):
        """Adds an animal, and returns it with its id."""
        headers = {"Idempotency-Key": f'"{idempotency_key or uuid.uuid4()}"'}
        return self.request("POST", "pets", json=animal, headers=headers).json()

    def pages(self, **filters):
        """Every page of the list."""
        target = "pets"
        while target:
            response = self.request("GET", target, params=filters)
            yield response.json()
            # The link includes the filters.
            target, filters = response.links.get("next", {}).get("url"), None

    def animals(self, **filters):
        """Every animal, page after page."""
        for page in self.pages(**filters):
            yield from page

    def request(self, method, target, **arguments):
        response = self.session.request(method, urljoin(URL, target), timeout=30, **arguments)
        if not response.ok:
            raise PetstoreError(response.json())
        return response


def error_of(action, *arguments, **filters):
    """The error that an action must cause."""
    try:
        action(*arguments, **filters)
    except PetstoreError as error:
        return f"{error.status} {error.code}"
    raise AssertionError("the service did not reject it")


def main():
    petstore = Petstore(os.environ["PETSTORE_KEY"])
    reader = Petstore(os.environ["PETSTORE_READ_KEY"])

    tour = f"Tour {uuid.uuid4()}"
    statuses = ["available", "pending", "sold"]
    animals = [
        {"name": f"{tour}, {number}", "categoryId": 7, "status": statuses[number % 3]}
        for number in range(12)
    ]
    keys = [str(uuid.uuid4()) for _ in animals]
    added = [petstore.add(animal, key) for animal, key in zip(animals, keys)]
    print(f"added {len(added)} animals, each with an Idempotency-Key")

    assert petstore.add(animals[0], keys[0]) == added[0]
    print("retried one of them: the same animal, not a second one")

    walked = [animal for animal in petstore.animals(limit=5) if animal["name"].startswith(tour)]
    assert walked == added
    print(f"read all pages by their links: each of the {len(walked)} once")

    sold = list(petstore.animals(limit=5, status="sold"))
    assert {animal["status"] for animal in sold} == {"sold"}
    ours = [animal for animal in sold if animal["name"].startswith(tour)]
    print(f"read all pages with the status sold: {len(ours)} of the 12, and no other status")

    response = petstore.request("GET", f"pets/{added[0]['id']}")
    assert response.json() == added[0] and response.headers["Deprecation"].startswith("@")
    assert response.links["successor-version"]["url"].endswith("/pets")
    print(f"read one by its id: deprecated, ends on {response.headers['Sunset']}")

    print("without a key:", error_of(Petstore(None).request, "GET", "pets"))
    print("with an invalid key:", error_of(Petstore("wrong").request, "GET", "pets"))
    print("adding with a read-only key:", error_of(reader.add, animals[0]))
    print("requesting 500 animals at once:", error_of(petstore.request, "GET", "pets?limit=500"))
    print("adding an animal without a category:", error_of(petstore.add, {"name": "Frank"}))
    print(
        "adding another animal with the same Idempotency-Key:",
        error_of(petstore.add, animals[1], keys[0]),
    )
    print(
        "reading an animal that does not exist:", error_of(petstore.request, "GET", f"pets/{2**53 - 1}")
    )

    for _ in range(100):
        response = reader.request("GET", "pets?limit=1")
        # The responses that were followed by a retry.
        if any(attempt.status == 429 for attempt in response.raw.retries.history):
            break
    else:
        raise AssertionError("the rate limit was never reached")
    print("exceeding the rate limit: 429 rate_limited, then 200 after the wait in Retry-After")


if __name__ == "__main__":
    main()

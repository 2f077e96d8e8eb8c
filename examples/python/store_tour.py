#!/usr/bin/env python3
"""A second tour in Python, for the people in the store: adds an animal, reserves, sells
and takes it back, changes it, gives it a photo, and withdraws it. Needs an API key for
the store area:

    export PETSTORE_STORE_KEY=$(petstore keys create --name staff --scope store:write)
    pip install requests
    python3 examples/python/store_tour.py
"""

import base64
import os
import random
import uuid

from tour import Petstore, PetstoreError, error_of

# A PNG of one pixel.
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg=="
)


class Store(Petstore):
    """The store area, accessed with one API key."""

    def read(self, target, **filters):
        return self.request("GET", f"store/{target}", params=filters).json()

    def write(self, method, target, body=None, version=None, picture=None):
        """Changes something. With an Idempotency-Key, every change is safe to retry."""
        headers = {"Idempotency-Key": f'"{uuid.uuid4()}"'}
        if version is not None:
            headers["If-Match"] = f'"{version}"'
        if picture is not None:
            headers["Content-Type"] = "image/png"
        return self.request(
            method, f"store/{target}", json=body, data=picture, headers=headers
        ).json()


def current_of(action, *arguments):
    """The error that an action must cause, and the state that it shows."""
    try:
        action(*arguments)
    except PetstoreError as error:
        return f"{error.status} {error.code}", error.current
    raise AssertionError("the service did not reject it")


def main():
    store = Store(os.environ["PETSTORE_STORE_KEY"])
    name = f"Frank {uuid.uuid4()}"
    microchip = f"276098{random.randrange(10**9):09}"
    values = {"species": "Cat", "breed": "Siamese", "microchip": microchip}
    animal = store.write("POST", "pets", {"name": name, "categoryId": 7, "fields": values})
    pet = animal["id"]
    print(f"added an animal with values: it is a {animal['fields']['species']}, and {animal['status']}")

    found = store.read("pets", **{"field.microchip": microchip})
    assert found == [animal]
    print(f"searched it by its microchip: found {len(found)}")

    order = store.write("POST", "orders", {"petId": pet, "reference": "R-1"})
    animal = store.read(f"pets/{pet}")
    assert animal["orderId"] == order["id"]
    print(f"placed an order: it is {order['status']}, and the animal {animal['status']}")

    error, current = current_of(store.write, "POST", "orders", {"petId": pet})
    print(f"reserving the animal again: {error}, it is {current['status']}")

    for command, did in [("complete", "completed"), ("return", "returned")]:
        order = store.write("POST", f"orders/{order['id']}/{command}")
        animal = store.read(f"pets/{pet}")
        print(f"{did} the order: it is {order['status']}, and the animal {animal['status']}")

    changed = store.write("PATCH", f"pets/{pet}", {"name": f"Ä{name}"}, animal["version"])
    print(f"changed the name: from version {animal['version']} to {changed['version']}")

    error, current = current_of(
        store.write, "PATCH", f"pets/{pet}", {"name": "Lola"}, animal["version"]
    )
    assert current == changed
    print(f"changing it with the old version: {error}, it has version {current['version']}")
    print("changing it without a version:", error_of(store.write, "PATCH", f"pets/{pet}", {}))
    print(
        "changing a member that does not exist:",
        error_of(store.write, "PATCH", f"pets/{pet}", {"nmae": "Lola"}, changed["version"]),
    )

    found = store.read("pets", name=f"a{name.upper()}")
    assert found == [changed]
    print(f"searched it by its name, without accents: found {len(found)}")

    photo = store.write("POST", f"pets/{pet}/photos", picture=PICTURE)
    animal = store.read(f"pets/{pet}")
    assert animal["photos"][0]["id"] == photo["id"]
    size = f"{photo['width']} by {photo['height']}"
    print(f"added a photo: it has {size} pixels, and the animal version {animal['version']}")
    small = Petstore(None).request("GET", photo["urls"]["small"])
    print(f"fetched its small picture without a key: {small.headers['Content-Type']}")

    gone = {"reason": "transferred", "note": "To the shelter in Petaluma."}
    animal = store.write("POST", f"pets/{pet}/withdraw", gone, animal["version"])
    print(f"withdrew it: the reason is {animal['withdrawn']['reason']}")
    print("reading it by the contract:", error_of(store.request, "GET", f"pets/{pet}"))


if __name__ == "__main__":
    main()

"""The second tour with a client that openapi-python-client generates from the document of the
store area:

    pip install -r examples/python/requirements.txt
    openapi-python-client generate --path openapi/openapi.yaml --meta none --output-path petstore
    openapi-python-client generate --path openapi/openapi-store.yaml --meta none --output-path petstore_store
    PYTHONPATH=. python3 examples/python/generated_store.py
"""

import os
import random
import uuid

from generated import connect, error_of
from petstore.api.pets import get_pet
from petstore_store.api.animals import (
    add_store_pet,
    get_store_pet,
    list_store_pets,
    patch_pet,
    withdraw_pet,
)
from petstore_store.api.orders import complete_order, place_order, return_order
from petstore_store.models import (
    NewFieldValues,
    OrderInput,
    Order,
    OrderError,
    PetError,
    PetPatch,
    StorePet,
    StorePetInput,
    WithdrawalReason,
    WithdrawRequest,
)


def new_key():
    """With an Idempotency-Key, every change is safe to retry."""
    return f'"{uuid.uuid4()}"'


def rejected(response):
    """The error that the response must be, and the state that it shows."""
    assert isinstance(response, (OrderError, PetError)), response
    return f"{response.status} {response.code}", response.current


def main():
    store = connect(os.environ["PETSTORE_STORE_KEY"])
    name = f"Frank {uuid.uuid4()}"
    microchip = f"276098{random.randrange(10**9):09}"
    values = {"species": "Cat", "breed": "Siamese", "microchip": microchip}
    new = StorePetInput(name=name, category_id=7, fields=NewFieldValues.from_dict(values))
    animal = add_store_pet.sync(client=store, body=new, idempotency_key=new_key())
    assert isinstance(animal, StorePet), animal
    pet = animal.id
    print(f"added an animal with values: it is a {animal.fields['species']}, and {animal.status}")

    def place():
        new = OrderInput(pet_id=pet, reference="R-1")
        return place_order.sync(client=store, body=new, idempotency_key=new_key())

    def patch(animal, name):
        return patch_pet.sync(
            pet,
            client=store,
            body=PetPatch(name=name),
            if_match=f'"{animal.version}"',
            idempotency_key=new_key(),
        )

    order = place()
    assert isinstance(order, Order), order
    animal = get_store_pet.sync(pet, client=store)
    assert animal.order_id == order.id
    print(f"placed an order: it is {order.status}, and the animal {animal.status}")

    error, current = rejected(place())
    print(f"reserving the animal again: {error}, it is {current.status}")

    for command, did in [(complete_order, "completed"), (return_order, "returned")]:
        order = command.sync(order.id, client=store, idempotency_key=new_key())
        animal = get_store_pet.sync(pet, client=store)
        print(f"{did} the order: it is {order.status}, and the animal {animal.status}")

    changed = patch(animal, f"Ä{name}")
    print(f"changed the name: from version {animal.version} to {changed.version}")

    error, current = rejected(patch(animal, "Lola"))
    assert current == changed
    print(f"changing it with the old version: {error}, it has version {current.version}")

    found = list_store_pets.sync(client=store, name=f"a{name.upper()}")
    assert found == [changed]
    print(f"searched it by its name, without accents: found {len(found)}")

    gone = WithdrawRequest(
        reason=WithdrawalReason.TRANSFERRED, note="To the shelter in Petaluma."
    )
    animal = withdraw_pet.sync(
        pet,
        client=store,
        body=gone,
        if_match=f'"{changed.version}"',
        idempotency_key=new_key(),
    )
    assert isinstance(animal, StorePet), animal
    print(f"withdrew it: the reason is {animal.withdrawn.reason}")
    print("reading it by the contract:", error_of(get_pet.sync(pet, client=store)))


if __name__ == "__main__":
    main()

"""A tour with the clients that OpenAPI Generator makes for Python. The argument is the name of the animal."""

import json
import os
import random
import sys

import petstore
import petstore_store as store

name = sys.argv[1]
settings = {"host": os.environ["PETSTORE_URL"], "access_token": os.environ["PETSTORE_KEY"]}
pets = petstore.PetsApi(petstore.ApiClient(petstore.Configuration(**settings)))
client = store.ApiClient(store.Configuration(**settings))
animals, orders = store.AnimalsApi(client), store.OrdersApi(client)


def print_error(what, call, *arguments):
    try:
        call(*arguments)
    except store.ApiException as error:
        print(f"{what}: {error.status} {json.loads(error.body)['code']}")


pet = pets.create_pet(petstore.NewPet(name=name, categoryId=1))
print(f"added an animal to the catalogue: it is {pet.status.value}")
print(f"found it by its name: {len(animals.list_store_pets(name=name))} animal")
microchip = f"276098{random.randrange(10**9):09}"
values = {"species": "Cat", "breed": "Siamese", "microchip": microchip}
fields = {field: store.FieldValue(value) for field, value in values.items()}
cat = animals.add_store_pet(store.StorePetInput(name=name, categoryId=1, fields=fields))
print(f"added an animal with values: it is a {cat.fields['species'].actual_instance}")
found = animals.list_store_pets(var_field={"field.microchip": microchip})
assert found == [cat]
print(f"found it by its microchip: {len(found)} animal")
with open("photo.webp", "rb") as photo:
    store.PhotosApi(client).add_photo(cat.id, photo.read())
print(f"added a photo of it: {len(animals.get_store_pet(cat.id).photos)} photo")

order = store.OrderInput(petId=pet.id, reference="R-1")
placed = orders.place_order(f"{name}-1", order)
assert orders.place_order(f"{name}-1", order) == placed
placed = orders.get_order(placed.id)
print(f"reserved it: the order is {placed.status.value}, for {(placed.expires_at - placed.created_at).days} days")
print_error("reserving it again", orders.place_order, f"{name}-2", order)
completed = orders.complete_order(placed.id)
assert completed.closed_at >= completed.created_at and placed.closed_at is None
print(f"completed the order: it is {completed.status.value}, and has the time of its end")

before = animals.get_store_pet(pet.id)
patch = store.PetPatch(name=f"{name} II")
changed = animals.patch_pet(f'"{before.version}"', pet.id, patch)
print(f"changed the name: from version {before.version} to {changed.version}")
print_error("changing it with the old version", animals.patch_pet, f'"{before.version}"', pet.id, patch)

for change in store.ChangesApi(client).follow_changes(after="start", limit=1000):
    if (change.subject.kind, change.subject.id) in [("pet", pet.id), ("order", placed.id)]:
        print(f"change: {change.type}, {change.after.actual_instance.status.value}")
entries = store.AuditApi(client).list_audit(subject=f"pet:{pet.id}")
print(f"audit trail: {len(entries)} entries about the animal, by the key {entries[-1].actor.name}")

commands = [
    store.AddPetCommand(command="addPet", name=f"{name} III", categoryId=1),
    store.ReturnOrderCommand(command="returnOrder", orderId=placed.id),
]
results = store.BatchApi(client).run_batch(f"{name}-3", [store.Command(each) for each in commands])
added, returned = [each.actual_instance.status.value for each in results]
print(f"batch: added an animal that is {added}, and the order is {returned}")

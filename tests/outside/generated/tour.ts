// A tour with the clients that OpenAPI Generator makes for TypeScript. The argument is the name of the animal.

import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";

import * as contract from "./petstore";
import * as store from "./petstore_store";

const name = process.argv[2]!;
const settings = { basePath: process.env.PETSTORE_URL!, accessToken: process.env.PETSTORE_KEY! };
const pets = new contract.PetsApi(new contract.Configuration(settings));
const configuration = new store.Configuration(settings);
const animals = new store.AnimalsApi(configuration);
const orders = new store.OrdersApi(configuration);

async function printError(what: string, call: Promise<unknown>) {
  await call.then(
    () => { throw new Error(`${what} succeeded`); },
    async (error: store.ResponseError) => {
      const body: store.ModelError = await error.response.json();
      console.log(`${what}: ${body.status} ${body.code}`);
    },
  );
}

async function tour() {
  const pet = await pets.createPet({ newPet: { name, categoryId: 1 } });
  console.log(`added an animal to the catalogue: it is ${pet.status}`);
  console.log(`found it by its name: ${(await animals.listStorePets({ name })).length} animal`);
  const microchip = `276098${randomInt(1e8, 1e9)}`;
  const fields = { species: "Cat", breed: "Siamese", microchip };
  const cat = await animals.addStorePet({ storePetInput: { name, categoryId: 1, fields } });
  console.log(`added an animal with values: it is a ${cat.fields["species"]}`);
  const found = await animals.listStorePets({ field: { "field.microchip": microchip } });
  if (found[0]?.id !== cat.id) throw new Error("another animal");
  console.log(`found it by its microchip: ${found.length} animal`);
  const body = new Blob([readFileSync("photo.webp")]);
  await new store.PhotosApi(configuration).addPhoto({ petId: cat.id, body });
  console.log(`added a photo of it: ${(await animals.getStorePet({ petId: cat.id })).photos.length} photo`);

  const orderInput: store.OrderInput = { petId: pet.id, reference: "R-1" };
  const { id: orderId } = await orders.placeOrder({ idempotencyKey: `${name}-1`, orderInput });
  const again = await orders.placeOrder({ idempotencyKey: `${name}-1`, orderInput });
  if (again.id !== orderId) throw new Error("a second order");
  const placed = await orders.getOrder({ orderId });
  const days = (placed.expiresAt!.getTime() - placed.createdAt.getTime()) / 86_400_000;
  console.log(`reserved it: the order is ${placed.status}, for ${days} days`);
  await printError("reserving it again", orders.placeOrder({ idempotencyKey: `${name}-2`, orderInput }));
  const completed = await orders.completeOrder({ orderId });
  if (placed.closedAt !== null || completed.closedAt! < completed.createdAt) throw new Error("the time of the end");
  console.log(`completed the order: it is ${completed.status}, and has the time of its end`);

  const before = await animals.getStorePet({ petId: pet.id });
  const patch = { petId: pet.id, ifMatch: `"${before.version}"`, petPatch: { name: `${name} II` } };
  const changed = await animals.patchPet(patch);
  console.log(`changed the name: from version ${before.version} to ${changed.version}`);
  await printError("changing it with the old version", animals.patchPet(patch));

  for (const change of await new store.ChangesApi(configuration).followChanges({ after: "start", limit: 1000 })) {
    const { kind, id } = change.subject;
    if ((kind === "pet" && id === pet.id) || (kind === "order" && id === orderId)) {
      console.log(`change: ${change.type}, ${(change.after as store.StorePet | store.Order).status}`);
    }
  }
  const entries = await new store.AuditApi(configuration).listAudit({ subject: `pet:${pet.id}` });
  console.log(`audit trail: ${entries.length} entries about the animal, by the key ${entries.at(-1)!.actor.name}`);

  const command: store.Command[] = [
    { command: "addPet", name: `${name} III`, categoryId: 1 },
    { command: "returnOrder", orderId },
  ];
  const batch = await new store.BatchApi(configuration).runBatch({ idempotencyKey: `${name}-3`, command });
  console.log(`batch: added an animal that is ${batch[0]!.status}, and the order is ${batch[1]!.status}`);
}

tour().catch((error) => {
  console.error(error);
  process.exit(1);
});

// A second tour in TypeScript, for the people in the store: adds an animal, reserves, sells and takes it
// back, changes it, gives it a photo, and withdraws it. Its types are generated from openapi-store.yaml.
// Needs an API key for the store area:
//
//   export PETSTORE_STORE_KEY=$(petstore keys create --name staff --scope store:write)
//   cd examples/typescript && npm ci && npm run generate && npm run build
//   node build/store-tour.js

import assert from "node:assert/strict";
import { randomInt, randomUUID } from "node:crypto";

import { fetchWithRetries } from "./retries.js";
import type { components } from "./store.js";

type StorePet = components["schemas"]["StorePet"];
type Photo = components["schemas"]["Photo"];
type Order = components["schemas"]["Order"];
type PetError = components["schemas"]["PetError"];

const URL_OF_SERVICE = process.env["PETSTORE_URL"] ?? "http://127.0.0.1:8080/v1";

/** A PNG of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==";
const PICTURE = new Blob([Buffer.from(PIXEL, "base64")], { type: "image/png" });

/** The service rejected a request. `current` is the present state, if that is the reason. */
class PetstoreError extends Error {
  constructor(readonly body: PetError) {
    super(body.message);
  }
}

/** Sends a request, whose body is JSON or a picture. With an Idempotency-Key, every change is safe to retry. */
async function send<T>(method: string, target: string, body?: object, version?: number): Promise<T> {
  const isJson = body !== undefined && !(body instanceof Blob);
  const request = new Request(`${URL_OF_SERVICE}/${target}`, {
    method,
    body: isJson ? JSON.stringify(body) : (body ?? null),
  });
  request.headers.set("Authorization", `Bearer ${process.env["PETSTORE_STORE_KEY"]}`);
  if (isJson) request.headers.set("Content-Type", "application/json");
  if (method !== "GET") request.headers.set("Idempotency-Key", `"${randomUUID()}"`);
  if (version !== undefined) request.headers.set("If-Match", `"${version}"`);
  const response = await fetchWithRetries(request);
  if (!response.ok) throw new PetstoreError((await response.json()) as PetError);
  return (await response.json()) as T;
}

/** The error that an action must cause. */
async function errorOf(action: Promise<unknown>): Promise<PetError> {
  try {
    await action;
  } catch (error) {
    if (error instanceof PetstoreError) return error.body;
    throw error;
  }
  throw new Error("the service did not reject it");
}

const read = () => send<StorePet>("GET", `store/pets/${id}`);

const name = `Frank ${randomUUID()}`;
const microchip = `276098${randomInt(1e8, 1e9)}`;
const fields = { species: "Cat", breed: "Siamese", microchip };
let animal = await send<StorePet>("POST", "store/pets", { name, categoryId: 7, fields });
const { id } = animal;
console.log(`added an animal with values: it is a ${animal.fields["species"]}, and ${animal.status}`);

const withChip = await send<StorePet[]>("GET", `store/pets?field.microchip=${microchip}`);
assert.deepEqual(withChip, [animal]);
console.log(`searched it by its microchip: found ${withChip.length}`);

let order = await send<Order>("POST", "store/orders", { petId: id, reference: "R-1" });
animal = await read();
assert.equal(animal.orderId, order.id);
console.log(`placed an order: it is ${order.status}, and the animal ${animal.status}`);

const taken = await errorOf(send("POST", "store/orders", { petId: id }));
console.log(`reserving the animal again: ${taken.status} ${taken.code}, it is ${taken.current?.status}`);

for (const [command, did] of [["complete", "completed"], ["return", "returned"]]) {
  order = await send<Order>("POST", `store/orders/${order.id}/${command}`);
  animal = await read();
  console.log(`${did} the order: it is ${order.status}, and the animal ${animal.status}`);
}

const { version } = animal;
const changed = await send<StorePet>("PATCH", `store/pets/${id}`, { name: `Ä${name}` }, version);
console.log(`changed the name: from version ${version} to ${changed.version}`);

const stale = await errorOf(send("PATCH", `store/pets/${id}`, { name: "Lola" }, version));
assert.deepEqual(stale.current, changed);
console.log(
  `changing it with the old version: ${stale.status} ${stale.code}, it has version ${stale.current?.version}`,
);
for (const [what, action] of Object.entries({
  "changing it without a version": () => send("PATCH", `store/pets/${id}`, {}),
  "changing a member that does not exist": () =>
    send("PATCH", `store/pets/${id}`, { nmae: "Lola" }, changed.version),
})) {
  const { status, code } = await errorOf(action());
  console.log(`${what}: ${status} ${code}`);
}

const prefix = encodeURIComponent(`a${name.toUpperCase()}`);
const found = await send<StorePet[]>("GET", `store/pets?name=${prefix}`);
assert.deepEqual(found, [changed]);
console.log(`searched it by its name, without accents: found ${found.length}`);

const photo = await send<Photo>("POST", `store/pets/${id}/photos`, PICTURE);
animal = await read();
console.log(`added a photo: it has ${photo.width} by ${photo.height} pixels, and the animal version ${animal.version}`);
const small = await fetchWithRetries(new Request(new URL(photo.urls.small, URL_OF_SERVICE)));
assert(small.ok);
console.log(`fetched its small picture without a key: ${small.headers.get("Content-Type")}`);

const gone = { reason: "transferred", note: "To the shelter in Petaluma." };
animal = await send<StorePet>("POST", `store/pets/${id}/withdraw`, gone, animal.version);
console.log(`withdrew it: the reason is ${animal.withdrawn?.reason}`);
const missing = await errorOf(send("GET", `pets/${id}`));
console.log(`reading it by the contract: ${missing.status} ${missing.code}`);

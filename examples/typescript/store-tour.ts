// A second tour in TypeScript, for the people in the store: reserves, sells and takes back an animal,
// changes it, and withdraws it. Its types are generated from openapi-store.yaml. Needs an API key for
// the store area:
//
//   export PETSTORE_STORE_KEY=$(petstore keys create --name staff --scope store:write)
//   cd examples/typescript && npm ci && npm run generate && npm run build
//   node build/store-tour.js

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import { fetchWithRetries } from "./retries.js";
import type { components } from "./store.js";

type StorePet = components["schemas"]["StorePet"];
type Order = components["schemas"]["Order"];
type PetError = components["schemas"]["PetError"];

const URL_OF_SERVICE = process.env["PETSTORE_URL"] ?? "http://127.0.0.1:8080/v1";

/** The service rejected a request. `current` is the present state, if that is the reason. */
class PetstoreError extends Error {
  constructor(readonly body: PetError) {
    super(body.message);
  }
}

/** Sends a request. With an Idempotency-Key, every change is safe to retry. */
async function send<T>(method: string, target: string, body?: object, version?: number): Promise<T> {
  const request = new Request(`${URL_OF_SERVICE}/${target}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  request.headers.set("Authorization", `Bearer ${process.env["PETSTORE_STORE_KEY"]}`);
  if (body !== undefined) request.headers.set("Content-Type", "application/json");
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
const { id } = await send<{ id: number }>("POST", "pets", { name, categoryId: 7 });

let order = await send<Order>("POST", "store/orders", { petId: id, reference: "R-1" });
let animal = await read();
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

const gone = { reason: "transferred", note: "To the shelter in Petaluma." };
animal = await send<StorePet>("POST", `store/pets/${id}/withdraw`, gone, changed.version);
console.log(`withdrew it: the reason is ${animal.withdrawn?.reason}`);
const missing = await errorOf(send("GET", `pets/${id}`));
console.log(`reading it by the contract: ${missing.status} ${missing.code}`);

// The tour of the store area with a client that is generated from its document:
// openapi-typescript makes the types (`npm run generate`), openapi-fetch does the rest. A request
// that violates the document does not compile. Needs an API key for the store area:
//
//   export PETSTORE_STORE_KEY=$(petstore keys create --name staff --scope store:write)
//   cd examples/typescript && npm ci && npm run generate && npm run build
//   node build/generated-store.js

import assert from "node:assert/strict";
import { randomInt, randomUUID } from "node:crypto";

import createClient from "openapi-fetch";

import type { paths as Contract } from "./petstore.js";
import { fetchWithRetries } from "./retries.js";
import type { paths } from "./store.js";

const options = {
  baseUrl: process.env["PETSTORE_URL"] ?? "http://127.0.0.1:8080/v1",
  headers: { Authorization: `Bearer ${process.env["PETSTORE_STORE_KEY"]}` },
  fetch: fetchWithRetries,
};
const contract = createClient<Contract>(options);
const store = createClient<paths>({
  ...options,
  // As the document declares the parameter `field`.
  querySerializer: { object: { style: "form", explode: true } },
});

/** A PNG of one pixel. */
const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg==",
  "base64",
);

/** The header fields of a change, which make it safe to retry. */
const once = () => ({ "Idempotency-Key": `"${randomUUID()}"` });

const name = `Frank ${randomUUID()}`;
const microchip = `276098${randomInt(1e8, 1e9)}`;
const { data: pet } = await store.POST("/store/pets", {
  params: { header: once() },
  body: { name, categoryId: 7, fields: { species: "Cat", breed: "Siamese", microchip } },
});
assert(pet);
console.log(`added an animal with values: it is a ${pet.fields["species"]}, and ${pet.status}`);

const { data: withChip } = await store.GET("/store/pets", {
  params: { query: { field: { "field.microchip": microchip } } },
});
assert.deepEqual(withChip, [pet]);
console.log(`searched it by its microchip: found ${withChip?.length}`);

const path = { petId: pet.id };

async function read() {
  const { data } = await store.GET("/store/pets/{petId}", { params: { path } });
  assert(data);
  return data;
}

const placed = await store.POST("/store/orders", {
  params: { header: once() },
  body: { petId: pet.id, reference: "R-1" },
});
assert(placed.data);
let animal = await read();
assert.equal(animal.orderId, placed.data.id);
console.log(`placed an order: it is ${placed.data.status}, and the animal ${animal.status}`);

const { error: taken } = await store.POST("/store/orders", {
  params: { header: once() },
  body: { petId: pet.id },
});
assert(taken && "current" in taken);
console.log(`reserving the animal again: ${taken.status} ${taken.code}, it is ${taken.current?.status}`);

const order = { path: { orderId: placed.data.id }, header: once() };
const completed = await store.POST("/store/orders/{orderId}/complete", { params: order });
animal = await read();
console.log(`completed the order: it is ${completed.data?.status}, and the animal ${animal.status}`);

const returned = await store.POST("/store/orders/{orderId}/return", {
  params: { ...order, header: once() },
});
animal = await read();
console.log(`returned the order: it is ${returned.data?.status}, and the animal ${animal.status}`);

const tag = `"${animal.version}"`;
const { data: changed } = await store.PATCH("/store/pets/{petId}", {
  params: { path, header: { ...once(), "If-Match": tag } },
  body: { name: `Ä${name}` },
});
assert(changed);
console.log(`changed the name: from version ${animal.version} to ${changed.version}`);

const { error: stale } = await store.PATCH("/store/pets/{petId}", {
  params: { path, header: { ...once(), "If-Match": tag } },
  body: { name: "Lola" },
});
assert(stale && "current" in stale);
assert.deepEqual(stale.current, changed);
console.log(`changing it with the old version: ${stale.status} ${stale.code}, it has version ${stale.current?.version}`);

const { error: blind } = await store.PATCH("/store/pets/{petId}", {
  // @ts-expect-error The document requires If-Match.
  params: { path, header: once() },
  body: {},
});
console.log(`changing it without a version: ${blind?.status} ${blind?.code}`);

const newest = { ...once(), "If-Match": `"${changed.version}"` };
const { error: misspelled } = await store.PATCH("/store/pets/{petId}", {
  params: { path, header: newest },
  body: JSON.parse('{ "nmae": "Lola" }'),
});
console.log(`changing a member that does not exist: ${misspelled?.status} ${misspelled?.code}`);

const { data: found } = await store.GET("/store/pets", {
  params: { query: { name: `a${name.toUpperCase()}` } },
});
assert.deepEqual(found, [changed]);
console.log(`searched it by its name, without accents: found ${found?.length}`);

const { data: photo } = await store.POST("/store/pets/{petId}/photos", {
  params: { path, header: once() },
  headers: { "Content-Type": "image/png" },
  // The type of a body is that of JSON, but this one is sent as it is.
  body: PICTURE as unknown as string,
  bodySerializer: (body) => body,
});
assert(photo);
animal = await read();
console.log(`added a photo: it has ${photo.width} by ${photo.height} pixels, and the animal version ${animal.version}`);
const small = await fetchWithRetries(new Request(new URL(photo.urls.small, options.baseUrl)));
assert(small.ok);
console.log(`fetched its small picture without a key: ${small.headers.get("Content-Type")}`);

const { data: gone } = await store.POST("/store/pets/{petId}/withdraw", {
  params: { path, header: { ...once(), "If-Match": `"${animal.version}"` } },
  body: { reason: "transferred", note: "To the shelter in Petaluma." },
});
console.log(`withdrew it: the reason is ${gone?.withdrawn?.reason}`);
const { error: missing } = await contract.GET("/pets/{petId}", { params: { path } });
console.log(`reading it by the contract: ${missing?.status} ${missing?.code}`);

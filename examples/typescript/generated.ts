// The tour with a client that is generated from the contract: openapi-typescript makes the types
// (`npm run generate`), openapi-fetch does the rest. A request that violates the contract does not
// compile.
//
//   cd examples/typescript && npm ci && npm run generate && npm run build
//   node build/generated.js

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import createClient from "openapi-fetch";

import { fetchWithRetries, waits } from "./retries.js";
import type { components, paths } from "./petstore.js";

type NewPet = components["schemas"]["NewPet"];
type Pet = components["schemas"]["Pet"];

function connect(key?: string) {
  return createClient<paths>({
    baseUrl: process.env["PETSTORE_URL"] ?? "http://127.0.0.1:8080/v1",
    headers: key === undefined ? {} : { Authorization: `Bearer ${key}` },
    fetch: fetchWithRetries,
  });
}

type Client = ReturnType<typeof connect>;

/** Adds an animal, only once even if the request is retried. */
function add(client: Client, body: NewPet, idempotencyKey: string = randomUUID()) {
  return client.POST("/pets", {
    params: { header: { "Idempotency-Key": `"${idempotencyKey}"` } },
    body,
  });
}

/** Every animal, page after page. The cursor is in the link of each page. */
async function* animals(client: Client, status?: Pet["status"]): AsyncGenerator<Pet> {
  let cursor: string | undefined;
  do {
    const { data, response } = await client.GET("/pets", {
      params: { query: { limit: 5, status, cursor } },
    });
    assert(data);
    yield* data;
    cursor = /[?&]cursor=([^&>]*)[^>]*>; rel="next"/.exec(response.headers.get("Link") ?? "")?.[1];
  } while (cursor !== undefined);
}

const petstore = connect(process.env["PETSTORE_KEY"]);
const reader = connect(process.env["PETSTORE_READ_KEY"]);

const statuses = ["available", "pending", "sold"] as const;
const tour = `Tour ${randomUUID()}`;
const added: Pet[] = [];
let idempotencyKey = "";
for (let number = 1; number <= 12; number++) {
  idempotencyKey = randomUUID();
  const animal = { name: `${tour}, ${number}`, categoryId: 7, status: statuses[number % 3]! };
  const { data } = await add(petstore, animal, idempotencyKey);
  assert(data);
  added.push(data);
}
console.log(`added ${added.length} animals, each with an Idempotency-Key`);

const { id, ...last } = added[11]!;
assert.equal((await add(petstore, last, idempotencyKey)).data?.id, id);
console.log("retried one of them: the same animal, not a second one");

const walked: Pet[] = [];
for await (const pet of animals(petstore)) if (pet.name.startsWith(tour)) walked.push(pet);
assert.deepEqual(walked, added);
console.log(`read all pages by their links: each of the ${walked.length} once`);

let sold = 0;
for await (const pet of animals(petstore, "sold")) {
  assert.equal(pet.status, "sold");
  if (pet.name.startsWith(tour)) sold++;
}
console.log(`read all pages with the status sold: ${sold} of the 12, and no other status`);

const one = (petId: number) => petstore.GET("/pets/{petId}", { params: { path: { petId } } });
const { headers } = (await one(id)).response;
assert.match(headers.get("Deprecation") ?? "", /^@[0-9]+$/);
assert.match(headers.get("Link") ?? "", /rel="successor-version"/);
console.log(`read one by its id: deprecated, ends on ${headers.get("Sunset")}`);

for (const [what, response] of Object.entries({
  "without a key": await connect().GET("/pets"),
  "with an invalid key": await connect("wrong").GET("/pets"),
  "adding with a read-only key": await add(reader, last),
  "requesting 500 animals at once": await petstore.GET("/pets", { params: { query: { limit: 500 } } }),
  "adding another animal with the same Idempotency-Key": await add(
    petstore,
    { ...last, name: "Another" },
    idempotencyKey,
  ),
  "reading an animal that does not exist": await one(Number.MAX_SAFE_INTEGER),
})) {
  console.log(`${what}: ${response.error?.status} ${response.error?.code}`);
}

const page = { params: { query: { limit: 1 } } };
for (let asked = 0; asked < 100 && !waits.has(429); asked++) {
  assert.equal((await reader.GET("/pets", page)).response.status, 200);
}
assert(waits.has(429));
console.log("exceeding the rate limit: 429 rate_limited, then 200 after the wait in Retry-After");

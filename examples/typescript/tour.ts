// A tour of the pet store in TypeScript, with Node's own modules: adds animals, reads all
// pages, and causes every kind of error. Needs two API keys:
//
//   export PETSTORE_KEY=$(petstore keys create --name tour)
//   export PETSTORE_READ_KEY=$(petstore keys create --name reader --scope read --rate-limit 5/s)
//   cd examples/typescript && npm ci && npm run generate && npm run build
//   node build/tour.js

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import { fetchWithRetries, waits } from "./retries.js";

const URL_OF_SERVICE = process.env["PETSTORE_URL"] ?? "http://127.0.0.1:8080/v1";

type PetStatus = "available" | "pending" | "sold";

interface NewPet {
  name: string;
  categoryId: number;
  status?: PetStatus;
}

interface Pet extends NewPet {
  id: number;
}

/** The service rejected a request. `code` is for programs, `message` for people. */
class PetstoreError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** The catalogue, accessed with one API key. */
class Petstore {
  constructor(private readonly key: string | undefined) {}

  /** Adds an animal, only once even if the request is retried. */
  async add(animal: NewPet, idempotencyKey: string = randomUUID()): Promise<Pet> {
    const headers = {
      "Content-Type": "application/json",
      "Idempotency-Key": `"${idempotencyKey}"`,
    };
    const body = JSON.stringify(animal);
    const response = await this.send("pets", { method: "POST", headers, body });
    return (await response.json()) as Pet;
  }

  /** Every animal, page after page. */
  async *animals(query: string): AsyncGenerator<Pet> {
    let target: string | undefined = `pets?${query}`;
    while (target !== undefined) {
      const response: Response = await this.send(target);
      yield* (await response.json()) as Pet[];
      target = nextPage(response);
    }
  }

  /** Sends a request to `target`, relative to the base URL. */
  async send(target: string, init: RequestInit = {}): Promise<Response> {
    const request = new Request(new URL(target, `${URL_OF_SERVICE}/`), init);
    if (this.key !== undefined) request.headers.set("Authorization", `Bearer ${this.key}`);
    const response = await fetchWithRetries(request);
    if (response.ok) return response;
    const error = (await response.json()) as { code: string; message: string };
    throw new PetstoreError(response.status, error.code, error.message);
  }
}

/** The target of a page's `Link`. */
function nextPage(response: Response): string | undefined {
  return /<([^>]*)>; rel="next"/.exec(response.headers.get("Link") ?? "")?.[1];
}

/** The error that an action must cause. */
async function errorOf(action: Promise<unknown>): Promise<string> {
  try {
    await action;
  } catch (error) {
    if (error instanceof PetstoreError) return `${error.status} ${error.code}`;
    throw error;
  }
  throw new Error("the service did not reject it");
}

const petstore = new Petstore(process.env["PETSTORE_KEY"]);
const reader = new Petstore(process.env["PETSTORE_READ_KEY"]);

const statuses: PetStatus[] = ["available", "pending", "sold"];
const tour = `Tour ${randomUUID()}`;
const added: Pet[] = [];
let idempotencyKey = "";
for (let number = 1; number <= 12; number++) {
  idempotencyKey = randomUUID();
  const animal = { name: `${tour}, ${number}`, categoryId: 7, status: statuses[number % 3] };
  added.push(await petstore.add(animal, idempotencyKey));
}
console.log(`added ${added.length} animals, each with an Idempotency-Key`);

const { id, ...last } = added[11]!;
assert.equal((await petstore.add(last, idempotencyKey)).id, id);
console.log("retried one of them: the same animal, not a second one");

const walked: Pet[] = [];
for await (const pet of petstore.animals("limit=5")) if (pet.name.startsWith(tour)) walked.push(pet);
assert.deepEqual(walked, added);
console.log(`read all pages by their links: each of the ${walked.length} once`);

let sold = 0;
for await (const pet of petstore.animals("limit=5&status=sold")) {
  assert.equal(pet.status, "sold");
  if (pet.name.startsWith(tour)) sold++;
}
console.log(`read all pages with the status sold: ${sold} of the 12, and no other status`);

const { headers } = await petstore.send(`pets/${id}`);
assert.match(headers.get("Deprecation") ?? "", /^@[0-9]+$/);
assert.match(headers.get("Link") ?? "", /rel="successor-version"/);
console.log(`read one by its id: deprecated, ends on ${headers.get("Sunset")}`);

const nobody = new Petstore(undefined);
const stranger = new Petstore("wrong");
for (const [what, action] of Object.entries({
  "without a key": () => nobody.send("pets"),
  "with an invalid key": () => stranger.send("pets"),
  "adding with a read-only key": () => reader.add(last),
  "requesting 500 animals at once": () => petstore.send("pets?limit=500"),
  "adding an animal without a category": () => petstore.add({ name: "Frank" } as NewPet),
  "adding another animal with the same Idempotency-Key": () =>
    petstore.add({ ...last, name: "Another" }, idempotencyKey),
  "reading an animal that does not exist": () => petstore.send(`pets/${Number.MAX_SAFE_INTEGER}`),
})) {
  console.log(`${what}: ${await errorOf(action())}`);
}

for (let asked = 0; asked < 100 && !waits.has(429); asked++) await reader.send("pets?limit=1");
assert(waits.has(429));
console.log("exceeding the rate limit: 429 rate_limited, then 200 after the wait in Retry-After");

// A receiver of webhooks in TypeScript. Prints each message once, with its webhook-id.
//
//     npm install standardwebhooks
//     export WEBHOOK_SECRET=whsec_...   # printed by `petstore webhooks add`
//     PORT=9000 node build/webhook-receiver.js

import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET ?? "");
// A real receiver stores the ids with the messages, so that it knows them after a restart.
const seen = new Set<string>();

const server = createServer(async (request, response) => {
  // The exact bytes: parsed and written again, they would have another signature.
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  try {
    webhook.verify(body, request.headers as Record<string, string>, { jsonParse: false });
  } catch {
    response.writeHead(400).end();
    return;
  }
  const id = request.headers["webhook-id"] as string;
  if (!seen.has(id)) {
    seen.add(id);
    console.log(JSON.parse(body.toString()).type, id);
  }
  response.writeHead(204).end();
});

server.listen(Number(process.env.PORT ?? 9000), "127.0.0.1");

// Signs in to the console in Chromium at a real OpenID provider: `oidc-provider` for Node.js, which is certified.
//
//   node oidc.mjs CHROMIUM PETSTORE FOLDER
//
// Starts the provider and the service, with a database in FOLDER. A manager signs in, signs in again before a
// change of the staff, and signs out at the provider, which ends the sessions in other browsers; then the provider
// changes its keys. All of it works without script. Fails if the browser reports a violation of the
// Content-Security-Policy.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";

import axe from "axe-core";
import { Provider } from "oidc-provider";
import puppeteer from "puppeteer-core";

const [chromium, petstore, folder] = process.argv.slice(2);
const secret = randomBytes(24).toString("base64url");

// A port that is free now. The provider must know the address of the console, and the service that of the provider.
async function freePort() {
  const server = createServer();
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

async function soon(what, condition) {
  for (const until = Date.now() + 60_000; ; await setTimeout(100)) {
    const done = await condition();
    if (done) return done;
    assert(Date.now() < until, `not yet: ${what}`);
  }
}

const GROUPS = { maria: ["shop-managers"], carl: ["shop"], olga: ["other"] };
const issuer = `http://localhost:${await freePort()}`;
const origin = `http://localhost:${await freePort()}`;

// A provider with keys of its own. What it knows of people stays. With its defaults, the ID token has no claims about
// people, who have them only at userinfo.
function provider(kid, alg, conformIdTokenClaims) {
  const pair = alg === "ES256" ? generateKeyPairSync("ec", { namedCurve: "P-256" }) : generateKeyPairSync("rsa", { modulusLength: 2048 });
  const made = new Provider(issuer, {
    jwks: { keys: [{ ...pair.privateKey.export({ format: "jwk" }), kid, alg, use: "sig" }] },
    clients: [{
      client_id: "petstore",
      client_secret: secret,
      redirect_uris: [`${origin}/sign-in/callback`],
      post_logout_redirect_uris: [`${origin}/sign-in`],
      backchannel_logout_uri: `${origin}/sign-in/back-channel`,
      backchannel_logout_session_required: true,
      id_token_signed_response_alg: alg,
    }],
    claims: { openid: ["sub"], groups: ["groups"], profile: ["preferred_username"], email: ["email"] },
    conformIdTokenClaims,
    cookies: { keys: ["provider"] },
    enabledJWA: { idTokenSigningAlgValues: ["RS256", "ES256"] },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource(ctx, form) {
          ctx.body = `<!doctype html><title>Sign out</title>${form}<button form="op.logoutForm" name="logout" value="yes">Sign out</button>`;
        },
      },
    },
    findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id, groups: GROUPS[id], preferred_username: id }) }),
    interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
    // The console is on this machine, which a provider does not call otherwise.
    fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined }),
    pkce: { required: () => true },
    async loadExistingGrant(ctx) {
      const grant = new ctx.oidc.provider.Grant({ clientId: ctx.oidc.client.clientId, accountId: ctx.oidc.session.accountId });
      grant.addOIDCScope("openid profile email groups");
      await grant.save();
      return grant;
    },
    ttl: { Grant: 3600, Session: 3600, Interaction: 600, IdToken: 300, AccessToken: 300 },
  });
  made.on("backchannel.error", (ctx, error) => console.error("back-channel:", error));
  made.on("server_error", (ctx, error) => console.error("provider:", error));
  return made;
}

let present = provider("first", "RS256", true);
let asked = 0;
let questions = 0;
const server = createServer(async (request, response) => {
  if (request.url === "/jwks") asked += 1;
  if (request.url === "/me") questions += 1;
  if (!request.url.startsWith("/interaction/")) return present.callback()(request, response);
  if (request.method === "GET") {
    response.setHeader("content-type", "text/html");
    return response.end(`<!doctype html><title>Who are you?</title><form method="post"><input name="login" aria-label="Name"><button>Continue</button></form>`);
  }
  let body = "";
  for await (const part of request) body += part;
  const accountId = new URLSearchParams(body).get("login");
  return present.interactionFinished(request, response, { login: { accountId } }, { mergeWithLastSubmission: false });
});
await new Promise((done) => server.listen(Number(new URL(issuer).port), "localhost", done));

writeFileSync(`${folder}/secret`, `${secret}\n`);
const service = spawn(petstore, [
  "serve", "--database", `sqlite:${folder}/pets.db`, "--listen", "127.0.0.1:0", "--window-listen", "off",
  "--console-listen", `127.0.0.1:${new URL(origin).port}`, "--console-url", origin, "--oidc-issuer", issuer, "--oidc-client-id", "petstore",
  "--oidc-client-secret-file", `${folder}/secret`, "--oidc-role", "groups=shop-managers:manager", "--oidc-role", "groups=shop:clerk",
], { stdio: ["ignore", "inherit", "inherit"] });

const browser = await puppeteer.launch({
  executablePath: chromium,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en-GB"],
});

// Somebody with a browser without script, as the console must work.
async function person() {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.on("console", (message) => assert(!/Content.Security.Policy/i.test(message.text()), message.text()));
  await page.setJavaScriptEnabled(false);
  return page;
}

async function press(page, selector) {
  await page.waitForSelector(selector);
  await Promise.all([page.waitForNavigation(), page.click(selector)]);
}

const text = (page) => page.$eval("body", (body) => body.textContent);

async function signIn(page, name) {
  await page.goto(`${origin}/orders`);
  await press(page, 'a[href^="/sign-in/provider"]');
  await identify(page, name);
}

// Says at the provider who it is.
async function identify(page, name) {
  await page.waitForSelector('input[name="login"]');
  await page.type('input[name="login"]', name);
  await press(page, "button");
}

async function isIn(page) {
  await page.goto(`${origin}/account`);
  return page.url() === `${origin}/account`;
}

try {
  await soon("the console listens", () => fetch(`${origin}/sign-in`).then((response) => response.ok, () => false));
  const maria = await person();
  await signIn(maria, "maria");
  assert.equal(maria.url(), `${origin}/orders`);
  assert.match(await text(maria), /maria/);
  assert.equal(questions, 1);
  console.log("A manager, whose role is only at userinfo, signs in at the provider, and comes back to the page that they wanted.");

  const looking = await browser.newPage();
  await looking.setViewport({ width: 320, height: 900 });
  await looking.evaluateOnNewDocument(axe.source);
  for (const language of ["de", "fr", "es", "en"]) {
    await maria.goto(`${origin}/settings/store`);
    await maria.select("[name='store.language']", language);
    await press(maria, 'form[action="/settings/store"] .main');
    // The button, the page about a sign-in that fails, and the new tab after one.
    for (const path of ["/sign-in", "/sign-in/callback?state=none", "/sign-in/done"]) {
      await looking.goto(`${origin}${path}`);
      const found = await looking.evaluate(async () => {
        const { violations } = await window.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] });
        const wide = document.documentElement.scrollWidth > 320 ? ["wide"] : [];
        return violations.map(({ id }) => id).concat(wide, document.documentElement.lang.slice(0, 2));
      });
      assert.deepEqual(found, [language], path);
    }
  }
  await looking.close();
  console.log("The pages in each language: at 320 px, axe-core finds nothing, and nothing scrolls sideways.");

  // The provider knows her already, so there is no form, but no proof either that is recent by our clock alone.
  await maria.goto(`${origin}/settings/staff`);
  await maria.type("#name", "Zoé");
  await press(maria, 'form[action="/settings/staff"] button.main');
  assert.equal(await maria.$('input[type="password"]'), null);
  const opened = new Promise((done) => maria.once("popup", done));
  await maria.click('a[target="_blank"]');
  const tab = await opened;
  await tab.setJavaScriptEnabled(false);
  await identify(tab, "maria");
  assert.equal(tab.url(), `${origin}/sign-in/done`);
  await tab.close();
  await press(maria, 'form[action="/sign-in/done"] button');
  assert.match(await text(maria), /Zoé/);
  await press(maria, 'form[action="/settings/staff"] button');
  assert.match(await text(maria), /Give this link to Zoé/);
  console.log("Before a change of the staff, the provider asks again, in a new tab; what was typed is sent from the first.");

  const olga = await person();
  await signIn(olga, "olga");
  assert.match(await text(olga), /gives you no role/);
  assert(!(await isIn(olga)));
  console.log("A person without a role does not enter.");

  const carl = await person();
  await signIn(carl, "carl");
  assert(await isIn(carl));
  await carl.goto(`${origin}/settings/staff`);
  assert.doesNotMatch(await text(carl), /Add a staff member/);

  // The sign-out at the provider, to which the sign-out here leads.
  const session = await maria.cookies();
  const other = await person();
  await other.setCookie(...session.filter(({ name }) => name.startsWith("petstore")));
  assert(await isIn(other));
  await maria.goto(issuer + "/session/end");
  await press(maria, 'button[value="yes"]');
  await soon("the provider ends the session", async () => !(await isIn(other)));
  assert(await isIn(carl));
  console.log("A sign-out at the provider ends the session here at once, and no other.");

  await carl.goto(`${origin}/account`);
  await carl.click(".who summary");
  await carl.click('form[action="/sign-out"] button');
  await carl.waitForSelector('button[value="yes"]');
  await press(carl, 'button[value="yes"]');
  assert.equal(carl.url().split("?")[0], `${origin}/sign-in`);
  assert(!(await isIn(carl)));
  console.log("A sign-out here leads to the provider, and back.");

  present = provider("second", "ES256", false);
  await soon("a token of the new key is accepted", async () => {
    const page = await person();
    await signIn(page, "carl");
    const isDone = await isIn(page);
    await page.browserContext().close();
    return isDone;
  });
  assert(asked <= 4, `the keys were asked for ${asked} times`);
  console.log("The provider gets a new key of another kind, and members sign in.");

  await new Promise((done) => {
    server.close(done);
    server.closeAllConnections();
  });
  const late = await person();
  const added = ["staff", "add", "Paul", "--database", `sqlite:${folder}/pets.db`, "--console-url", origin];
  await late.goto(execFileSync(petstore, added, { encoding: "utf8" }).trim());
  await late.type("#new", "four quiet otters swim");
  await late.type("#again", "four quiet otters swim");
  await press(late, "button.main");
  await late.click(".who summary");
  await press(late, 'form[action="/sign-out"] button');
  await late.type("#name", "Paul");
  await late.type("#password", "four quiet otters swim");
  await press(late, "form button.main");
  assert(await isIn(late));
  console.log("The provider is gone, and a member with a password signs in.");
} finally {
  await browser.close();
  service.kill();
  server.close();
  server.closeAllConnections();
}

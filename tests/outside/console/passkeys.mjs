// Passkeys, with the virtual authenticators of Chromium: added, used without and after a password, refused, copied and
// removed; at another address, without script, and in each language. They are those of a host with a name, so
// people open the console at localhost.

import assert from "node:assert/strict";

import { PASSWORD, fill, isThere, measure, origin, person, submit, text } from "./people.mjs";

const site = origin.replace("127.0.0.1", "localhost");
const BUTTON = "[data-passkey] button";

// Somebody with a browser and an authenticator of their own.
async function withAuthenticator() {
  const at = await person(site);
  const device = await at.page.createCDPSession();
  await device.send("WebAuthn.enable");
  const options = { protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true };
  const { authenticatorId } = await device.send("WebAuthn.addVirtualAuthenticator", { options });
  at.device = (method, more) => device.send(`WebAuthn.${method}`, { authenticatorId, ...more });
  return at;
}

const open = (at, path) => at.page.goto(`${site}${path}`);
const title = (at) => text(at, "h1");

async function has(at, expected) {
  const shown = await text(at, "main");
  assert(shown.includes(expected), `the page says “${shown}”, and not “${expected}”`);
}

async function enterPassword(at, name) {
  await open(at, "/sign-in");
  await fill(at, "#name", name);
  await fill(at, "#password", PASSWORD);
  await submit(at, "form .main");
}

async function signOut(at) {
  await open(at, "/account");
  await at.page.click(".who summary");
  await submit(at, ".who button");
}

async function add(at, name) {
  await open(at, "/account/passkeys");
  await fill(at, "#name", name);
  await submit(at, BUTTON);
  await has(at, "The passkey has been added.");
}

// Presses the button, and waits for what the page itself says.
async function isTold(at, expected) {
  await at.page.click(BUTTON);
  await at.page.waitForFunction((expected) => document.querySelector("[data-passkey] .error").innerText.includes(expected), {}, expected);
}

export async function passkeys(manager) {
  const cleo = await withAuthenticator();
  await enterPassword(cleo, "Cleo");
  await add(cleo, "Laptop");
  await isTold(cleo, "already has a passkey");
  await measure(cleo, undefined, "the passkeys of a member");
  await signOut(cleo);
  await open(cleo, "/orders");
  await measure(cleo, undefined, "the page to sign in with a passkey");
  await submit(cleo, BUTTON);
  assert.equal(cleo.page.url(), `${site}/orders`);
  console.log("A member adds a passkey, and signs in with nothing else.");

  await signOut(cleo);
  await enterPassword(cleo, "Cleo");
  await has(cleo, "Now use your passkey.");
  assert(!(await isThere(cleo, "#code")));
  await measure(cleo, undefined, "the page for the passkey after a password");
  await cleo.device("setUserVerified", { isUserVerified: false });
  await isTold(cleo, "No passkey was used");
  await cleo.device("setUserVerified", { isUserVerified: true });
  await submit(cleo, BUTTON);
  assert.equal(await title(cleo), "Today");
  console.log("After the password, the page asks for the passkey, and the passkey for a finger, a face or a PIN.");

  await withoutPublicKey("Ben");

  const ben = await withAuthenticator();
  await enterPassword(ben, "Ben");
  await add(ben, "Key");
  await enterPassword(ben, "Cleo");
  await submit(ben, BUTTON);
  await has(ben, "the passkey of another member");
  await open(ben, "/account");
  assert(ben.page.url().includes("/sign-in"));
  await submit(ben, BUTTON);
  assert.equal(await text(ben, ".who summary"), "Ben");
  console.log("The passkey of another member is not the second factor of this one.");

  const { credentials: [known] } = await cleo.device("getCredentials");
  await cleo.device("removeCredential", { credentialId: known.credentialId });
  await cleo.device("addCredential", { credential: { ...known, signCount: 0 } });
  await signOut(cleo);
  await submit(cleo, BUTTON);
  assert.equal(await title(cleo), "Today");
  await manager.page.goto(`${origin}/activity`);
  await has(manager, "Counter of the passkey");
  console.log("A passkey that counts backwards signs in, and the audit trail has both counts.");

  await manager.page.goto(`${origin}/account/passkeys`);
  await has(manager, "Passkeys are not set up for this address.");
  const refusal = await cleo.page.evaluate(() =>
    navigator.credentials.get({ publicKey: { challenge: new Uint8Array(32), rpId: "shop.example" } }).catch(({ name }) => name));
  assert.equal(refusal, "SecurityError");
  const still = await person(site);
  await still.page.setJavaScriptEnabled(false);
  await open(still, "/sign-in");
  assert(!(await isThere(still, `${BUTTON}:not([hidden])`)));
  await has(still, "Passkeys need JavaScript");
  await enterPassword(still, "Cleo");
  await has(still, "Passkeys need JavaScript");
  await still.context.close();
  console.log("At another address and without script, there are no passkeys, and the page says why.");

  await inEachLanguage(cleo, manager);

  for (const at of [cleo, ben]) {
    await open(at, "/account/passkeys");
    await submit(at, "td button");
    await has(at, "The passkey has been removed.");
    await signOut(at);
    await submit(at, BUTTON);
    await has(at, "This passkey does not work here");
  }
  await measure(cleo, undefined, "the page about a passkey that was removed");
  await enterPassword(cleo, "Cleo");
  assert.equal(await title(cleo), "Today");
  await Promise.all([cleo, ben].map(({ context }) => context.close()));
  console.log("A passkey that was removed signs nobody in, and the password is enough again.");
}

// Password managers that change what the browser says about a new passkey.
const MANAGERS = {
  "gives no key": () => { AuthenticatorAttestationResponse.prototype.getPublicKey = () => null; },
  "lacks the method": () => { AuthenticatorAttestationResponse.prototype.getPublicKey = undefined; },
  "fails": () => { AuthenticatorAttestationResponse.prototype.getPublicKey = () => { throw new TypeError("no"); }; },
  "gives only the attestation": () => {
    for (const method of ["getPublicKey", "getPublicKeyAlgorithm", "getAuthenticatorData"])
      delete AuthenticatorAttestationResponse.prototype[method];
  },
};

async function withoutPublicKey(name) {
  for (const [manager, change] of Object.entries(MANAGERS)) {
    const at = await withAuthenticator();
    await at.page.evaluateOnNewDocument(change);
    await enterPassword(at, name);
    await add(at, `Vault that ${manager}`);
    await signOut(at);
    await open(at, "/orders");
    await submit(at, BUTTON);
    assert.equal(at.page.url(), `${site}/orders`, manager);
    await open(at, "/account/passkeys");
    await submit(at, "td button");
    await has(at, "The passkey has been removed.");
    await at.context.close();
  }
  console.log("The passkeys of password managers that do not give the public key separately sign in.");
}

// The pages in the languages of the store, as narrow as 400 % zoom makes them.
async function inEachLanguage(at, manager) {
  for (const language of ["de", "fr", "es", "en"]) {
    await manager.page.goto(`${origin}/settings/store`);
    await manager.page.select("[name='store.language']", language);
    await submit(manager, "form[action='/settings/store'] .main");
    const look = (what) => measure(at, undefined, `${what} in ${language}`, [320]);
    await open(at, "/account");
    await look("the account");
    await open(at, "/account/passkeys");
    await look("the passkeys");
    await at.page.click(".who summary");
    await submit(at, ".who button");
    await look("the page to sign in");
    await at.device("setUserVerified", { isUserVerified: false });
    await at.page.click(BUTTON);
    await at.page.waitForSelector("[data-passkey] .error:not([hidden])");
    await look("a passkey that was not used");
    await at.device("setUserVerified", { isUserVerified: true });
    await enterPassword(at, "Cleo");
    await look("the page for the passkey");
    await submit(at, BUTTON);
    assert.match(await at.page.$eval("html", (html) => html.lang), new RegExp(`^${language}`));
  }
  console.log("With passkeys, the pages in each language: at 320 px, axe-core finds nothing, and nothing scrolls sideways.");
}

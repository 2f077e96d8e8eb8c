// The pages and states that a day in a store does not lead to: empty ones, wrong forms, secrets that are shown once,
// the second factor, and requests that fail. Each is measured.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import http from "node:http";

import {
  PASSWORD, axe, choosePassword, complaints, confirm, fill, isThere, measure, origin, person, press, says, signIn,
  signOut, submit, text, unfold, value,
} from "./people.mjs";
import { questions } from "./questions.mjs";

// A store with nothing in it.
export async function aNewStore(anna) {
  for (const path of ["/", "/animals", "/orders", "/categories", "/add", "/settings/webhooks", "/activity?animal=1"]) {
    await measure(anna, path, `${path} of a new store`);
    assert(path === "/add" || await isThere(anna, path === "/" ? ".steps" : ".empty"), path);
  }
}

export async function states(anna, ben) {
  await wrongForms(ben);
  await manyAnimals(ben);
  await questions(anna, ben);
  await settings(anna);
  await secondFactor(anna);
  await signingIn(anna);
  await failures(anna, ben);
  await policy(anna);
  await timesOfTheReader(anna);
  console.log("Wrong forms, secrets, the second factor and failed requests have pages that fit.");
}

// Presses the button, and measures the page that follows, which must have this status.
async function leadsTo(at, selector, status, what, way = submit) {
  const response = await way(at, selector);
  assert.equal(response.status(), status, what);
  await measure(at, undefined, what);
}

// As if somebody had typed it, so a page that follows the store does not replace the field.
function set(at, selector, value) {
  return at.page.$eval(selector, (field, value) => {
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }, value);
}

async function wrongForms(ben) {
  const { page } = ben;
  const lines = Array.from({ length: 61 }, (_, index) => `Pip ${index}\tBirds`);
  for (const [pasted, status, what] of [
    ["", 422, "nothing is pasted"],
    ["Name\tCategory\nMax\tCows\nMia", 422, "a preview with wrong lines"],
    [[...lines, ...lines].join("\n"), 200, "a preview of too many lines"],
    [lines.join("\n"), 200, "a preview"],
  ]) {
    await page.goto(`${origin}/add`);
    await set(ben, "#lines", pasted);
    await leadsTo(ben, "form[action='/add/preview'] button", status, what);
  }
  await leadsTo(ben, "form[action='/add/many'] button", 200, "many animals were added");
  await submit(ben, ".pages a");
  await measure(ben, undefined, "a later page of animals");

  await page.goto(`${origin}/add`);
  await fill(ben, "#name", "Pip");
  await fill(ben, "#category", "Lions");
  await leadsTo(ben, "form[action='/add'] button", 422, "a category that does not exist");
  await page.goto(`${origin}/categories`);
  await set(ben, "#number", "x");
  await leadsTo(ben, "main .main", 422, "a wrong category");
  await page.goto(`${origin}/animals?q=Pip`);
  await leadsTo(ben, "button[value=sell]", 200, "no animal is selected");
  await submit(ben, "td.first a");
  const animal = page.url();
  await press(ben, "details.card summary");
  await leadsTo(ben, "form[action$=withdraw] button", 422, "a reason is missing");
  await page.goto(animal);
  await set(ben, "#until", "2020-01-01");
  await leadsTo(ben, "#work button[value=reserve]", 422, "a day in the past");
  await page.goto(`${animal}/edit`);
  await set(ben, "#name", "");
  await leadsTo(ben, "form.card .main", 422, "an animal without a name");
}

// Each state of an animal and its order, and a list of which one animal is in the way.
async function manyAnimals(ben) {
  const { page } = ben;
  await page.goto(`${origin}/animals?q=Pip+6`);
  await submit(ben, "td.first a");
  const animal = page.url();
  await leadsTo(ben, "#work button[value=reserve]", 200, "a reserved animal");
  // What was unfolded to measure it may be folded again, because the page follows the reservation.
  await page.goto(animal);
  await press(ben, "form[action$=change] > details summary");
  await set(ben, "#until", "2020-01-01");
  await leadsTo(ben, "form[action$=change] details .fields button", 422, "a reservation with a day in the past");
  const order = page.url().replace("/change", "");
  await page.goto(animal);
  await leadsTo(ben, "#work button[formaction$=complete]", 200, "a sold animal");
  await measure(ben, new URL(order).pathname, "a sold order");
  await page.goto(`${origin}/animals?q=Pip+6&status=all`);
  await press(ben, "[data-all]");
  await leadsTo(ben, "button[value=sell]", 200, "an animal in the way");
  await says(ben, "It is already sold.");
  await page.goto(animal);
  for (let times = 0; times < 11; times += 1) {
    await press(ben, "#work details summary");
    await submit(ben, "#work button[formaction$=return]");
    await submit(ben, "#work button[value=sell]");
  }
  await submit(ben, ".stack > .card:last-child > a");
  await measure(ben, undefined, "the older history of an animal");
  for (const path of ["/orders?status=returned", "/orders?status=cancelled", "/orders?q=nothing+like+this"]) {
    await measure(ben, path, path);
  }
}

async function settings(anna) {
  const { page } = anna;
  // The password was given more than five minutes ago, perhaps.
  await signOut(anna);
  await signIn(anna, "Anna");
  await page.goto(`${origin}/settings/staff`);
  await fill(anna, "#name", "Anna");
  await leadsTo(anna, "form[action='/settings/staff'] .main", 422, "a name that is taken");
  await fill(anna, "#name", "Dora");
  await leadsTo(anna, "form[action='/settings/staff'] .main", 200, "the link of a new member");
  // The button copies the link, and says so.
  await anna.context.overridePermissions(origin, ["clipboard-read", "clipboard-write", "clipboard-sanitized-write"]);
  await press(anna, "[data-copy]");
  await page.waitForFunction(() => document.querySelector("[data-copy]").textContent === "Copied");
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await text(anna, ".secret"));
  await submit(anna, "main .main");
  const row = await page.$$eval("td.first", (names) => 1 + names.findIndex((name) => name.textContent === "Dora"));
  const disable = `tbody tr:nth-child(${row}) form:has([value=disable]) button`;
  const stale = await person();
  await signIn(stale, "Anna");
  await stale.page.goto(`${origin}/settings/staff`);
  await leadsTo(anna, disable, 200, "a disabled member", confirm);
  await leadsTo(stale, disable.replace("disable", "reset"), 409, "a member who was changed meanwhile", confirm);
  await stale.context.close();

  await page.goto(`${origin}/settings/keys`);
  await fill(anna, "#name", " ");
  await leadsTo(anna, "form[action='/settings/keys'] .main", 422, "a key without a name");
  await fill(anna, "#name", "scale");
  await leadsTo(anna, "form[action='/settings/keys'] .main", 200, "a new key");
  await submit(anna, "main .main");
  const newest = "tbody tr:last-child form:has([value=rotate]) button";
  await leadsTo(anna, newest, 200, "the successor of a key");
  await submit(anna, "main .main");
  await leadsTo(anna, newest.replace("rotate", "revoke"), 200, "a revoked key", confirm);

  await page.goto(`${origin}/settings/webhooks`);
  await unfold(anna);
  await fill(anna, "#url", "https://hooks.example.com/petstore");
  await submit(anna, "main .main");
  await submit(anna, "main .main");
  await submit(anna, "tr:last-child td.first a");
  const webhook = page.url();
  await submit(anna, "form[action$=test] button");
  while (!(await isThere(anna, "td .badge"))) await page.goto(webhook);
  await measure(anna, undefined, "a webhook with a failed attempt");
  await leadsTo(anna, "form[action$=disable] button", 200, "a disabled webhook", confirm);
}

async function secondFactor(anna) {
  const dora = await person();
  await anna.page.goto(`${origin}/settings/staff`);
  const row = await anna.page.$$eval("td.first", (names) => 1 + names.findIndex((name) => name.textContent === "Dora"));
  await confirm(anna, `tbody tr:nth-child(${row}) form:has([value=reset]) button`);
  const link = await text(anna, ".secret");
  await dora.page.goto(link);
  await fill(dora, "#new", "short");
  await fill(dora, "#again", "short");
  await leadsTo(dora, "main .main", 422, "a password that is too short");
  await choosePassword(dora, link, "Dora");
  const { page } = dora;
  assert.equal((await page.goto(link)).status(), 404);
  await measure(dora, undefined, "a link that was used");

  await page.goto(`${origin}/account/second-factor`);
  await measure(dora, undefined, "setting up a second factor");
  const secret = await value(dora, "input[name=secret]");
  await fill(dora, "#code", "000000");
  await leadsTo(dora, "main .main", 422, "a wrong code of a new app");
  const used = code(secret);
  await fill(dora, "#code", used);
  await leadsTo(dora, "main .main", 200, "recovery codes");
  const recovery = await page.$$eval("main li code", (codes) => codes.map(({ textContent }) => textContent));
  assert.equal(recovery.length, 10);
  await measure(dora, "/account", "an account with a second factor");
  await measure(dora, "/account/second-factor", "a second factor");
  await leadsTo(dora, "form[action$=recovery-codes] button", 200, "new recovery codes");
  const [again] = await page.$$eval("main li code", (codes) => codes.map(({ textContent }) => textContent));
  await signOut(dora);
  await fill(dora, "#name", "Dora");
  await fill(dora, "#password", PASSWORD);
  await leadsTo(dora, "main .main", 200, "the second step of signing in");
  for (const old of [used, recovery[0]]) {
    await fill(dora, "#code", old);
    await leadsTo(dora, "main .main", 422, "a code that was used or replaced");
  }
  await fill(dora, "#code", again);
  await submit(dora, "main .main");
  assert.equal(await text(dora, "h1"), "Today");
  await page.goto(`${origin}/account/second-factor`);
  await leadsTo(dora, "form[action$=remove] button", 200, "an account without its second factor");
  await fill(dora, "#current", "not this one");
  await fill(dora, "#new", `${PASSWORD} far`);
  await fill(dora, "#again", `${PASSWORD} far`);
  await leadsTo(dora, "form[action$=password] button", 422, "a wrong current password");
  await fill(dora, "#current", PASSWORD);
  await fill(dora, "#new", `${PASSWORD} far`);
  await fill(dora, "#again", `${PASSWORD} far`);
  await leadsTo(dora, "form[action$=password] button", 200, "a new password");
  await dora.context.close();
}

// What an authenticator app shows now (RFC 6238).
function code(spelled) {
  const letters = [...spelled.replaceAll(" ", "")].map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter));
  const bits = letters.map((five) => five.toString(2).padStart(5, "0")).join("");
  const period = Buffer.alloc(8);
  period.writeBigInt64BE(BigInt(Math.floor(Date.now() / 30000)));
  const hash = createHmac("sha1", Buffer.from(bits.match(/.{8}/g).map((byte) => parseInt(byte, 2)))).update(period).digest();
  return String((hash.readUInt32BE(hash[19] & 15) & 0x7fffffff) % 1e6).padStart(6, "0");
}

async function signingIn(anna) {
  const { page } = anna;
  // After signing out, "back" shows nothing of the store.
  await page.goto(`${origin}/animals`);
  await signOut(anna);
  await page.goBack();
  await page.waitForSelector("#password");
  assert.doesNotMatch(await text(anna, "body"), /Rex|Pip/);
  await measure(anna, "/sign-in", "signing in");
  await fill(anna, "#name", "Anna");
  await fill(anna, "#password", "wrong");
  await leadsTo(anna, "main .main", 403, "a wrong password");

  // Without script, a button sends what was kept.
  const plain = await person();
  await plain.page.setJavaScriptEnabled(false);
  await signIn(plain, "Ben");
  for (const [lines, what] of [["Kept\tDogs", "a form that is kept"], ["x".repeat(70000), "a form that is too long"]]) {
    await plain.page.goto(`${origin}/add`);
    await set(plain, "#lines", lines);
    const cookies = await plain.context.cookies();
    await plain.context.deleteCookie(...cookies);
    assert.equal((await submit(plain, "form[action='/add/preview'] button")).status(), 403);
    await measureWithoutScript(plain, what);
    await fill(plain, "#name", "Ben");
    await fill(plain, "#password", PASSWORD);
    await submit(plain, "main .main");
  }
  await plain.page.goto(`${origin}/add`);
  await set(plain, "#lines", "Kept\tDogs");
  await plain.context.deleteCookie(...(await plain.context.cookies()));
  await submit(plain, "form[action='/add/preview'] button");
  await fill(plain, "#name", "Ben");
  await fill(plain, "#password", PASSWORD);
  await submit(plain, "main .main");
  await measureWithoutScript(plain, "a button that sends what was kept");
  await submit(plain, "main form .main");
  assert.match(await text(plain, "table"), /Kept/);
  await plain.context.close();
  await signIn(anna, "Anna");
}

// axe-core needs scripts, but those of the page have not run.
async function measureWithoutScript(at, what) {
  await at.page.setJavaScriptEnabled(true);
  await at.page.evaluate(axe.source);
  await measure(at, undefined, what);
  await at.page.setJavaScriptEnabled(false);
}

async function failures(anna, ben) {
  for (const [path, status] of [["/nothing", 404], ["/animals/999999", 404], ["/orders/999999", 404], ["/settings/webhooks/99", 404]]) {
    assert.equal((await anna.page.goto(`${origin}${path}`)).status(), status);
    await measure(anna, undefined, `${status} at ${path}`);
  }
  assert.equal((await ben.page.goto(`${origin}/activity`)).status(), 403);
  await measure(ben, undefined, "a page that is not allowed");
  // Forms that no page has: a wrong method, a command that is missing, and too much text.
  for (const [action, length, status] of [["/account", 1, 405], ["/settings/keys/1", 1, 400], ["/add", 1 << 20, 413]]) {
    await anna.page.goto(`${origin}/add`);
    await anna.page.$eval("form[action='/add']", (form, action) => form.setAttribute("action", action), action);
    await set(anna, "#name", "x".repeat(length));
    await leadsTo(anna, "#name ~ *, form.fields .main", status, `${status} at ${action}`);
  }
  const stranger = await person();
  const local = new URL(origin);
  local.hostname = "stranger.localhost";
  const before = complaints.length;
  assert.equal((await stranger.page.goto(local.href)).status(), 400);
  await measure(stranger, undefined, "a host name that the console does not have");
  complaints.splice(before);

  // Too many attempts for a name, and too many passwords at once.
  const wrong = (name) => post("/sign-in", { name, password: "wrong" });
  // Few at once: those that find no place for their hash do not count.
  for (let sent = 0; sent < 60; sent += 12) {
    await Promise.all(Array.from({ length: 12 }, () => wrong("Nobody")));
  }
  await stranger.page.goto(`${origin}/sign-in`);
  await fill(stranger, "#name", "Nobody");
  await fill(stranger, "#password", "wrong");
  await leadsTo(stranger, "main .main", 429, "too many attempts");
  const isRejected = await whileBusy(async () => {
    // A place can become free in the moment in which the form arrives.
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await stranger.page.goto(`${origin}/sign-in`);
      await fill(stranger, "#name", `Somebody ${attempt}`);
      await fill(stranger, "#password", "wrong");
      if ((await submit(stranger, "main .main")).status() === 503) return true;
    }
    return false;
  });
  assert(isRejected, "the form of a stranger was accepted five times");
  assert.equal(await text(stranger, "h1"), "The service is busy");
  await measure(stranger, undefined, "a service that is busy");
  await stranger.context.close();
}

// Does something while more strangers sign in than may wait, each from an address of its own, because one
// address has few attempts. A stranger who has a response tries again at once.
async function whileBusy(work) {
  let isOver = false;
  let found;
  const isBusy = new Promise((resolve) => (found = resolve));
  const strangers = Array.from({ length: 90 }, async (_, index) => {
    for (let attempt = 0; !isOver; attempt += 1) {
      const form = { name: `Stranger ${index} ${attempt}`, password: "wrong" };
      if ((await post("/sign-in", form, `127.0.0.${index + 2}`)) === 503) found();
    }
  });
  await isBusy;
  const done = await work();
  isOver = true;
  await Promise.all(strangers);
  return done;
}

// Sends a form as fast as a program can, and returns the status of the response.
function post(path, form, localAddress) {
  return new Promise((resolve, reject) => {
    const headers = { origin, "content-type": "application/x-www-form-urlencoded" };
    const options = { method: "POST", agent: false, headers, localAddress };
    const request = http.request(`${origin}${path}`, options, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    request.on("error", reject);
    request.end(new URLSearchParams(form).toString());
  });
}

// What gets into a page by a mistake of ours does nothing, and the browser reports it.
async function policy(anna) {
  await anna.page.goto(`${origin}/`);
  const before = complaints.length;
  for (const [markup, expected] of [
    ["<img src='/nothing' onerror='document.title = \"It ran\"'>", "script-src-attr"],
    ["<p style='color: red'>", "style-src-attr"],
    ["<style>p { color: red }</style>", "style-src-elem"],
    ["<img src='http://127.0.0.1:9/'>", "img-src"],
    ["<iframe src='/'></iframe>", "frame-src"],
    ["<form action='http://127.0.0.1:9/' method=post><button>x</button></form>", "form-action"],
  ]) {
    const found = await anna.page.evaluate((markup) => new Promise((resolve) => {
      const done = ({ effectiveDirective }) => resolve(effectiveDirective);
      document.addEventListener("securitypolicyviolation", done, { once: true });
      const part = document.createElement("div");
      document.querySelector("main").append(part);
      part.innerHTML = markup;
      part.querySelector("button")?.click();
      setTimeout(() => resolve("nothing was blocked"), 30000);
    }), markup);
    assert.equal(found, expected);
  }
  assert.notEqual(await anna.page.title(), "It ran");
  complaints.splice(before);
  // No other page shows one of the console in a frame.
  const other = await anna.context.newPage();
  await other.setContent(`<iframe src="${origin}/sign-in"></iframe>`);
  const frame = await (await other.waitForSelector("iframe")).contentFrame();
  assert.doesNotMatch(await frame.content(), /Petstore/);
  await other.close();
  console.log("The browser blocks and reports scripts, styles, hosts and frames that do not belong to a page.");
}

// Times are in the zone of the reader, and in the language of the page: not in that of the browser.
async function timesOfTheReader(anna) {
  const { page } = anna;
  const session = await page.createCDPSession();
  await session.send("Emulation.setLocaleOverride", { locale: "de-DE" });
  await page.emulateTimezone("Pacific/Auckland");
  await page.goto(`${origin}/orders?status=completed`);
  const [at, shown] = await page.$eval("time[data-exact]", (time) => [time.dateTime, time.textContent]);
  const format = { dateStyle: "medium", timeStyle: "short", timeZone: "Pacific/Auckland" };
  assert.equal(shown, new Intl.DateTimeFormat("en-GB", format).format(new Date(at)));
  assert.match(await text(anna, "td .muted"), /just now|minutes? ago/);
  await page.emulateTimezone();
  await session.send("Emulation.setLocaleOverride", {});
  await session.detach();
}

// Every way in which photos, or what was typed next to them, could be lost: bad networks, ended sessions, second
// presses, leaving the page, files that are no pictures. Each must be said, and nothing may be lost.

import assert from "node:assert/strict";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { PASSWORD, away, fill, isThere, measure, origin, person, press, says, signIn, signOut, submit, text, value } from "./people.mjs";

let folder;

export async function uploads() {
  const at = await person();
  await signIn(at, "Ben");
  folder = await mkdtemp(join(tmpdir(), "uploads-"));
  await whileSomebodyTypes(at);
  await aBadNetwork(at);
  await lostAnswers(at);
  await leaving(at);
  await filesThatAreNoPhotos(at);
  await tooMany(at);
  await signedOut(at);
  await inOrder(at);
  await adding(at);
  await addingWithoutSession(at);
  await browsersThatHideTheirCanvas();
  await aBrowserThatBelievesToBeOffline();
  await at.context.close();
  await rm(folder, { recursive: true });
  console.log("Photos are sent when they are chosen, and no photo and no text is lost on a bad network, after a session, by "
    + "a second press, or by leaving.");
}

// A picture of noise, which hardly gets smaller.
let made = 0;
async function picture(at, width = 60, height = 40) {
  const base64 = await at.page.evaluate((width, height) => {
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const pen = canvas.getContext("2d");
    const image = pen.createImageData(width, height);
    for (let byte = 0; byte < image.data.length; byte += 1) image.data[byte] = byte % 4 === 3 ? 255 : Math.random() * 256;
    pen.putImageData(image, 0, 0);
    return canvas.toDataURL("image/jpeg", 0.95).split(",")[1];
  }, width, height);
  return file(`photo-${made += 1}.jpg`, Buffer.from(base64, "base64"));
}

async function file(name, content) {
  await writeFile(join(folder, name), content);
  return join(folder, name);
}

async function pictures(at, count, ...sides) {
  const all = [];
  while (all.length < count) all.push(await picture(at, ...sides));
  return all;
}

async function add(at, name) {
  await at.page.goto(`${origin}/add`);
  await fill(at, "#name", name);
  await fill(at, "#category", "1");
  await submit(at, "form[action='/add'] button.main");
  await submit(at, "a[href$='/photos']");
  return at.page.url();
}

async function choose(at, files) {
  await (await at.page.waitForSelector("#pictures")).uploadFile(...files);
}

const shown = (at) => at.page.$$eval(".photos > li", (all) => all.length);
async function sent(at, expected) {
  const isSaid = (expected) => document.getElementById("sent")?.textContent.trim() === expected;
  // One after the other takes long on a busy machine.
  await at.page.waitForFunction(isSaid, { timeout: 120_000 }, expected).catch(async (error) => {
    assert.fail(`${error.message}: “${await text(at, "#uploads")}” is said instead of “${expected}”`);
  });
}

async function rowsSay(at, count, expected) {
  const isSaid = (count, expected) => {
    const rows = [...document.querySelectorAll(".uploads li")];
    return rows.length === count && rows.every((row) => row.innerText.includes(expected));
  };
  await at.page.waitForFunction(isSaid, {}, count, expected).catch(async (error) => {
    assert.fail(`${error.message}: the rows say “${await text(at, "#uploads")}” instead of “${expected}”`);
  });
}
const slowly = (at, upload, latency = 0) => at.page.emulateNetworkConditions({ upload, download: 1e7, latency });
const again = (at) => at.page.emulateNetworkConditions(null);

// How many photos the animal has for everybody.
async function stored(at, path) {
  return at.page.evaluate(async (path) => {
    const page = new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html");
    return page.querySelectorAll(".photos > li").length;
  }, path);
}

// They appear in place, and nothing else changes. Large ones become small before they are sent.
async function whileSomebodyTypes(at) {
  const { page } = at;
  await page.evaluateOnNewDocument(() => {
    const { send } = XMLHttpRequest.prototype;
    window.sizes = [];
    XMLHttpRequest.prototype.send = function sized(content) {
      window.sizes.push(content.get("pictures").size);
      return send.call(this, content);
    };
  });
  const path = await add(at, "Typed");
  await choose(at, await pictures(at, 1));
  await sent(at, "1 photo added.");
  assert.equal(await page.evaluate(() => document.activeElement.id), "sent");
  await fill(at, ".photos input[name^=alt]", "half a text");
  await slowly(at, 400_000);
  const large = await picture(at, 2600, 1950);
  await choose(at, [large, ...(await pictures(at, 2, 900, 700))]);
  await page.waitForSelector(".uploads progress:not([hidden])");
  await measure(at, undefined, "photos on their way", [1280, 390, 320]);
  await page.focus(".photos input[name^=alt]");
  await page.keyboard.press("End");
  await page.keyboard.type(" of mine");
  await again(at);
  await sent(at, "3 photos added.");
  assert.equal(await shown(at), 4);
  assert.equal(await value(at, ".photos input[name^=alt]"), "half a text of mine");
  assert.match(await page.evaluate(() => document.activeElement.name), /^alt-/);
  const sizes = await page.evaluate(() => window.sizes);
  assert(sizes[1] < 3_000_000 && sizes.every((size) => size > 0), `${sizes}`);
  // What was typed can be saved, because the page knows the photos that it has added.
  await submit(at, "#shown .buttons button[value=save]:not(.hidden)");
  await says(at, "Saved.");
  assert.equal(await value(at, ".photos input[name^=alt]"), "half a text of mine");
  assert.equal(await stored(at, path), 4);
}

// Each says why it failed, and can be sent again; also by itself, when the network is back.
async function aBadNetwork(at) {
  const path = await add(at, "Offline");
  const all = await pictures(at, 3, 700, 500);
  await choose(at, all.slice(0, 1));
  await sent(at, "1 photo added.");
  await at.page.setOfflineMode(true);
  await choose(at, all.slice(1));
  await rowsSay(at, 2, "Waiting for the connection");
  await at.page.setOfflineMode(false);
  await sent(at, "2 photos added.");
  assert.deepEqual([await shown(at), await stored(at, path)], [3, 3]);
}

// The service has a photo, or rejects it, and the answer does not arrive. Sent again, it is added once.
async function lostAnswers(at) {
  const path = await add(at, "Answers");
  const session = await at.page.createCDPSession();
  await session.send("Fetch.enable", { patterns: [{ urlPattern: "*/photos", requestStage: "Response" }] });
  const go = ({ requestId }) => session.send("Fetch.continueRequest", { requestId });
  let answer = ({ requestId }) => {
    answer = go;
    return session.send("Fetch.failRequest", { requestId, errorReason: "ConnectionReset" });
  };
  session.on("Fetch.requestPaused", (event) => answer(event));
  await choose(at, await pictures(at, 1));
  await sent(at, "1 photo added.");
  assert.deepEqual([await shown(at), await stored(at, path)], [1, 1]);
  await session.send("Fetch.enable", { patterns: [{ urlPattern: "*/photos" }] });
  // A proxy has a limit of its own, and a page of its own for it.
  answer = ({ requestId }) => session.send("Fetch.fulfillRequest", { requestId, responseCode: 413 });
  await choose(at, await pictures(at, 1));
  await rowsSay(at, 1, "This photo is too large");
  answer = ({ requestId }) => session.send("Fetch.fulfillRequest", { requestId, responseCode: 503, body: Buffer.from(
    "<h1>The disk is full</h1><p data-failed>Nothing was changed.").toString("base64") });
  await press(at, ".uploads button");
  await rowsSay(at, 1, "The disk is full: Nothing was changed.");
  answer = go;
  await press(at, ".uploads button");
  await sent(at, "1 photo added.");
  assert.equal(await shown(at), 2);
  await session.detach();
}

// Leaving asks, and buttons that leave wait.
async function leaving(at) {
  const { page } = at;
  const path = await add(at, "Leaving");
  await choose(at, await pictures(at, 1));
  await sent(at, "1 photo added.");
  await slowly(at, 100_000);
  await choose(at, await pictures(at, 2, 700, 500));
  await page.waitForSelector(".uploads li");
  page.stays = true;
  await press(at, "nav a[href='/add']");
  assert.equal(page.asked, "beforeunload");
  [page.asked, page.stays] = [undefined, false];
  assert.equal(page.url(), path);
  await fill(at, ".photos input[name^=alt]", "Asleep");
  const saved = page.waitForNavigation();
  saved.catch(() => {});
  await press(at, "#shown .buttons button[value=save]:not(.hidden)");
  await sent(at, "The photos are still uploading. The form will be sent when they have finished.");
  await again(at);
  await saved;
  await says(at, "Saved.");
  assert.deepEqual([await shown(at), await value(at, ".photos input[name^=alt]")], [3, "Asleep"]);
  await slowly(at, 20_000);
  await choose(at, await pictures(at, 1, 700, 500));
  await page.waitForSelector(".uploads li");
  const moved = page.waitForNavigation();
  moved.catch(() => {});
  await press(at, ".photos button[value^=down]");
  await sent(at, "The photos are still uploading. The form will be sent when they have finished.");
  await again(at);
  await moved;
  await says(at, "Saved.");
  assert.equal(await shown(at), 4);
  assert.equal(page.asked, undefined);
}

// What is wrong with each is said, and keeps no other back.
async function filesThatAreNoPhotos(at) {
  await add(at, "Letters");
  const [good] = await pictures(at, 1);
  const heic = await file("phone.heic", "\0\0\0\x18ftypheic\0\0\0\0");
  const letter = await file("letter.txt", "Dear store");
  await choose(at, [letter, good, heic]);
  await sent(at, "1 photo added. 2 not added.");
  assert.equal(await shown(at), 1);
  const said = await text(at, ".uploads");
  assert.match(said, /letter\.txt\s*▲? ?Not added\. This file is not a JPEG/);
  assert.match(said, /phone\.heic\s*▲? ?Not added\. This is a HEIC picture\. Set the camera to “Most compatible”/);
  // What is wrong with a file stays wrong, so it can only be left out.
  const offered = await at.page.$$eval(".uploads button:not([hidden])", (all) => all.map(({ textContent }) => textContent));
  assert.deepEqual(offered, ["Skip this photo", "Skip this photo"]);
  await measure(at, undefined, "photos that were not added", [1280, 390, 320]);
  // Now nothing is unsent, so leaving asks nothing.
  for (let left = 2; left > 0; left -= 1) {
    await press(at, ".uploads li button:last-child");
    await at.page.waitForFunction((left) => document.querySelectorAll(".uploads li").length === left - 1, {}, left);
  }
  // The same picture twice is said, and both are added. Chosen again later, it is a third one.
  const copy = await file("copy.jpg", await (await import("node:fs/promises")).readFile(good));
  await choose(at, [good, copy]);
  await at.page.waitForFunction(() => /^2 photos added\. +copy\.jpg: This is the same photo as photo-\d+\.jpg\.$/
    .test(document.getElementById("sent").textContent));
  assert.equal(await shown(at), 3);
}

async function tooMany(at) {
  await add(at, "Many");
  const all = await pictures(at, 25);
  await choose(at, all);
  await at.page.waitForFunction(() => document.getElementById("sent").textContent.startsWith("An animal can have up to 20 photos. Not uploaded (5): "));
  await at.page.waitForFunction(() => document.getElementById("sent").textContent.startsWith("20 photos added."));
  assert.equal(await shown(at), 20);
  assert.match(await text(at, "#shown"), /20 of 20 photos\. Delete one to add another\./);
  assert.equal(await at.page.$eval("#pictures", (input) => input.checkVisibility()), false);
  assert.equal(await at.page.evaluate(() => document.activeElement.id), "sent");
  await at.page.reload();
  assert.match(await text(at, "#shown"), /20 of 20 photos/);
  assert.equal(await at.page.$eval("#pictures", (input) => input.checkVisibility()), false);
}

// Another tab, in which somebody signs out, and in again.
async function otherTab(at, act) {
  const other = { ...at, page: await at.context.newPage() };
  await act(other);
  await other.page.close();
  await at.page.bringToFront();
}

async function signedOut(at) {
  const path = await add(at, "Session");
  await otherTab(at, signOut);
  await away(at);
  await at.page.waitForFunction(() => document.getElementById("news").dataset.shown === "out");
  await choose(at, await pictures(at, 1, 700, 500));
  await rowsSay(at, 1, "You are signed out. Use another tab to sign in");
  await otherTab(at, (other) => signIn(other, "Anna"));
  await press(at, ".uploads button");
  await rowsSay(at, 1, "Another member is signed in now.");
  await otherTab(at, signOut);
  await otherTab(at, (other) => signIn(other, "Ben"));
  await press(at, ".uploads button");
  await sent(at, "1 photo added.");
  assert.equal(await stored(at, path), 1);
}

async function fillNew(at, name, files) {
  await at.page.goto(`${origin}/add`);
  await choose(at, files);
  await fill(at, "#category", "1");
  await fill(at, "#name", name);
}

const isAnimal = (at) => at.page.waitForFunction(() => /^\/animals\/\d+$/.test(location.pathname)
  && document.readyState === "complete");
const ofAnimal = (at) => at.page.$$eval(".portrait img", (all) => all.length);
const waiting = (at) => at.page.$$eval("#waiting [name=photo]:checked", (all) => all.length);

// The first one that was chosen is the first one, also if it is the last one to arrive.
async function inOrder(at) {
  const { page } = at;
  await page.goto(`${origin}/add`);
  await choose(at, [await picture(at, 900, 1300), await picture(at)]);
  await sent(at, "2 photos added.");
  await page.waitForFunction(() => [...document.querySelectorAll("#waiting img")].every(({ naturalWidth }) => naturalWidth > 0));
  const areTall = await page.$$eval("#waiting img", (all) => all.map(({ naturalWidth, naturalHeight }) => naturalHeight > naturalWidth));
  assert.deepEqual(areTall, [true, false]);
}

// Photos are sent while the rest is typed. Who is faster waits for them; pressed twice on a slow network, it is one animal
// with each photo once.
async function adding(at) {
  const { page } = at;
  await fillNew(at, "Typed", await pictures(at, 2));
  await sent(at, "2 photos added.");
  assert.equal(await waiting(at), 2);
  await measure(at, undefined, "photos that wait for their animal", [1280, 390, 320]);
  // An error loses none.
  await fill(at, "#name", " ");
  await submit(at, "form[action='/add'] button.main");
  assert.deepEqual([await waiting(at), await isThere(at, "#name[aria-invalid=true]")], [2, true]);
  await fill(at, "#name", "Twice");
  await choose(at, await pictures(at, 1));
  await sent(at, "1 photo added.");
  await slowly(at, 1e7, 1500);
  // In one task of the page, so that nothing can arrive in between.
  await page.evaluate(() => {
    document.querySelector("form[action='/add'] button.main").click();
    document.querySelector("form[action='/add']").requestSubmit();
  });
  await again(at);
  await isAnimal(at);
  await says(at, "Added as animal");
  assert.equal(await ofAnimal(at), 3);
  assert.equal(await page.$$eval("nav a[aria-current=page]", ([{ pathname }]) => pathname), "/animals");
  await submit(at, ".flash a[href^='/add?like=']");
  assert.deepEqual([await value(at, "#name"), await value(at, "#category"), await waiting(at)], ["", "Dogs", 0]);
  await page.goto(`${origin}/add`);
  await slowly(at, 100_000);
  await fillNew(at, "Next", await pictures(at, 2, 700, 500));
  await press(at, "form[action='/add'] button.main");
  await sent(at, "The photos are still uploading. The form will be sent when they have finished.");
  [page.asked, page.stays] = [undefined, true];
  await press(at, "nav a[href='/orders']");
  assert.equal(page.asked, "beforeunload");
  page.stays = false;
  await again(at);
  await isAnimal(at);
  assert.deepEqual([await text(at, "h1"), await ofAnimal(at)], ["Next", 2]);
}

// The session is over, or the service down: what was typed and chosen stays, and goes on.
async function addingWithoutSession(at) {
  const { page } = at;
  await fillNew(at, "Late", await pictures(at, 2));
  await sent(at, "2 photos added.");
  await page.setOfflineMode(true);
  await press(at, "form[action='/add'] button.main");
  await page.waitForFunction(() => document.querySelector("form[action='/add'] #offline")?.checkVisibility());
  assert.match(await text(at, "#offline"), /nothing was sent/);
  await page.setOfflineMode(false);
  await page.waitForFunction(() => document.querySelector("#offline").hidden);
  // Leaving would lose it, so it asks.
  [page.asked, page.stays] = [undefined, true];
  await press(at, "nav a[href='/orders']");
  assert.equal(page.asked, "beforeunload");
  page.stays = false;
  assert.deepEqual([await value(at, "#name"), await waiting(at)], ["Late", 2]);
  await otherTab(at, signOut);
  await submit(at, "form[action='/add'] button.main");
  await fill(at, "#name", "Ben");
  await fill(at, "#password", PASSWORD);
  await submit(at, "main .main");
  // What was typed is shown, and sent by a press.
  await press(at, "main form .main");
  await isAnimal(at);
  assert.deepEqual([await text(at, "h1"), await ofAnimal(at)], ["Late", 2]);
}

// A browser against fingerprinting gives back other pixels than those that were drawn. Such a photo is sent as it is.
async function browsersThatHideTheirCanvas() {
  const fakes = {
    getImageData: () => {
      const { getImageData } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.getImageData = function striped(...place) {
        const image = getImageData.apply(this, place);
        for (let at = 0; at < image.data.length; at += 1) image.data[at] = at % 8 < 4 ? 255 : 0;
        return image;
      };
    },
    toBlob: () => {
      const { toBlob } = HTMLCanvasElement.prototype;
      HTMLCanvasElement.prototype.toBlob = function striped(done, ...rest) {
        const pen = this.getContext("2d");
        pen.fillStyle = "#f0f";
        for (let at = 0; at < this.width; at += 2) pen.fillRect(at, 0, 1, this.height);
        return toBlob.call(this, done, ...rest);
      };
    },
  };
  for (const [name, fake] of Object.entries({ ...fakes, none: () => {} })) {
    const at = await person();
    const large = await picture(at, 2600, 1950);
    await at.page.evaluateOnNewDocument(fake);
    await at.page.evaluateOnNewDocument(() => {
      const { send } = XMLHttpRequest.prototype;
      XMLHttpRequest.prototype.send = function sized(content) {
        window.size = content.get("pictures").size;
        return send.call(this, content);
      };
    });
    await signIn(at, "Ben");
    await add(at, `Canvas ${name}`);
    await choose(at, [large]);
    await sent(at, "1 photo added.");
    const [size, { size: whole }] = [await at.page.evaluate(() => window.size), await stat(large)];
    assert.equal(size === whole, name !== "none", `${name}: ${size} of ${whole} bytes were sent`);
    await at.context.close();
  }
}

// A till whose only network is itself: the browser says that it is offline, and the service is there.
async function aBrowserThatBelievesToBeOffline() {
  const at = await person();
  const { page } = at;
  await page.evaluateOnNewDocument(() => {
    Object.defineProperty(Navigator.prototype, "onLine", { get: () => false });
  });
  await signIn(at, "Ben");
  await add(at, "Sent");
  assert.equal(await text(at, "h1"), "Photos of Sent");
  // Without the service, the form stays, and the end of the session is tried all the same.
  await page.goto(`${origin}/add`);
  await fill(at, "#name", "Kept");
  await page.setOfflineMode(true);
  await press(at, "form[action='/add'] button.main");
  await page.waitForFunction(() => document.querySelector("form[action='/add'] #offline")?.checkVisibility());
  assert.equal(await value(at, "#name"), "Kept");
  await page.setOfflineMode(false);
  await page.goto(origin);
  await signOut(at);
  assert.equal(new URL(page.url()).pathname, "/sign-in");
  await at.context.close();
}

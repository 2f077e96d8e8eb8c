// A new arrival: an animal with its photos, added on a phone, put into order and found again by its microchip.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { choose, confirm, done, fill, isThere, measure, origin, person, press, says, signIn, submit, text, value } from "./people.mjs";

const pictures = [];
let letter;

export async function photos() {
  const at = await person();
  await at.page.setViewport({ width: 390, height: 844, hasTouch: true });
  await signIn(at, "Ben");
  const folder = await mkdtemp(join(tmpdir(), "photos-"));
  for (const path of ["/", "/animals", "/orders"]) {
    await at.page.goto(`${origin}${path}`);
    pictures.push(join(folder, `${pictures.length}.png`));
    await at.page.screenshot({ path: pictures.at(-1) });
  }
  letter = join(folder, "letter.txt");
  await writeFile(letter, "Dear store");
  Object.assign(at, { presses: 0, fields: 0, effort: [] });
  const began = Date.now();
  await add(at, "Pepper");
  await theirOrder(at);
  await found(at, "Pepper");
  console.log(`On a phone, a clerk adds an animal with three photos, and finds it by its microchip: ${at.effort.join(", ")}; ${
    Math.round((Date.now() - began) / 1000)} s.`);
  await wrongForms(at);
  await withoutScript();
  await at.context.close();
  await rm(folder, { recursive: true });
}

async function choosePictures(at, files) {
  at.presses += 1;
  await (await at.page.waitForSelector("#pictures")).uploadFile(...files);
}

const shown = (at) => at.page.$$eval(".photos img", (all) => all.map(({ src }) => src));

// The first screen of a phone has what people ask first. Three photos are sent while nine values are typed, and nothing is lost.
async function add(at, name) {
  await at.page.goto(`${origin}/add`);
  const first = ["#pictures", "#name", "[name='field.species']", "[name='field.sex']", "[name='field.born']", "#about",
    "[name='field.microchip']", "[name='field.price']"];
  const ends = await at.page.evaluate((all) => all.map((part) => Math.round(document.querySelector(part).getBoundingClientRect().bottom)), first);
  assert(Math.max(...ends) <= 844, `the first screen ends at ${ends}`);
  await choosePictures(at, pictures);
  await fill(at, "#name", name);
  await choose(at, "[name='field.species']", "Dog");
  await choose(at, "[name='field.sex']", "Female");
  await fill(at, "#about", "2");
  await fill(at, "[name='field.microchip']", "276098106234567");
  await fill(at, "[name='field.price']", "249.50");
  await fill(at, "[name='field.breed']", "Beagle");
  await fill(at, "[name='field.colour']", "Black");
  await fill(at, "[name='field.description']", "Loves children.");
  await press(at, "form[action='/add'] button.main");
  await at.page.waitForFunction(() => document.querySelectorAll(".portrait img").length === 3);
  done(at, "add");
  console.log(`The first screen of Add at 390 x 844 ends at ${Math.max(...ends)} px.`);
  assert.match(at.page.url(), /\/animals\/\d+$/);
  assert.equal(await text(at, "h1"), name);
  await says(at, "Its date of birth was calculated from its age.");
  const facts = await text(at, "#facts");
  for (const value of ["Dog", "Female", "276098106234567", "249.50", "Beagle", "Black"]) {
    assert(facts.includes(value), `${value}: ${facts}`);
  }
  assert.match(await text(at, ".story"), /Loves children\./);
  const born = new Date().getUTCFullYear() - 2;
  assert(facts.includes(`${born}`), facts);
  await measure(at, undefined, "an animal with photos", [1280, 390, 320]);
  await at.page.setViewport({ width: 390, height: 844, hasTouch: true });
  await submit(at, "a[href$='/photos']");
  await measure(at, undefined, "the photos of an animal", [1280, 390, 320]);
  await at.page.setViewport({ width: 390, height: 844, hasTouch: true });
}

// By buttons and by dragging; and a text says what a photo shows.
async function theirOrder(at) {
  const [one, two, three] = await shown(at);
  await submit(at, ".photos > li:nth-child(2) button[value^=up]");
  assert.deepEqual(await shown(at), [two, one, three]);
  const alt = await at.page.$eval(".photos > li:nth-child(1) input[name^=alt]", ({ id }) => `#${id}`);
  await fill(at, alt, "Pepper on a chair");
  await submit(at, "form:has(.photos) > .buttons button");
  assert.equal(await value(at, alt), "Pepper on a chair");
  // The head is in view, and a photo that lies on its side is turned.
  await press(at, ".photos > li:nth-child(1) summary");
  const place = await at.page.$eval(".photos > li:nth-child(1) .point input", (image) => image.getBoundingClientRect().toJSON());
  await submit(at, ".photos > li:nth-child(1) .point input");
  assert.deepEqual([Math.max(place.width, place.height), await value(at, ".photos > li:nth-child(1) select")], [240, "0.5,0.5"]);
  const sides = () => at.page.$eval(".photos > li:nth-child(1) .point input", ({ width, height }) => [width, height]);
  const before = await sides();
  await submit(at, ".photos > li:nth-child(1) button[value^=left]");
  await says(at, "Photo rotated.");
  assert.deepEqual(await sides(), before.reverse());
  assert.equal(await value(at, ".photos > li:nth-child(1) input[name^=alt]"), "Pepper on a chair");
  done(at, "order and text");
  await at.page.setViewport({ width: 1280, height: 2000 });
  const moved = at.page.waitForNavigation();
  const [top, , last] = await shown(at);
  const [from, to] = [await at.page.$(".photos > li:nth-child(3) img"), await at.page.$(".photos > li:nth-child(1) img")];
  await to.drop(from);
  await moved;
  assert.deepEqual(await shown(at), [last, top, one]);
  assert.deepEqual([last, one], [three, one]);
  await at.page.setViewport({ width: 390, height: 844, hasTouch: true });
  Object.assign(at, { presses: 0, fields: 0 });
}

async function found(at, name) {
  await at.page.goto(`${origin}/`);
  await fill(at, "#q", "276098106234567");
  at.presses += 1;
  await Promise.all([at.page.waitForNavigation(), at.page.keyboard.press("Enter")]);
  if (!at.page.url().includes("/animals/")) {
    assert(await isThere(at, "td.first .picture img"));
    await submit(at, "td.first a");
  }
  done(at, "find");
  assert.equal(await text(at, "h1"), name);
  await submit(at, "#work button[value=reserve]");
  await at.page.goto(`${origin}/orders`);
  assert(await isThere(at, "td.first .picture img"), "an order shows the portrait");
}

// What is wrong with the animal, or with a picture, is said, and what was chosen stays.
async function wrongForms(at) {
  await at.page.goto(`${origin}/add`);
  await fill(at, "#category", "Dogs");
  await choosePictures(at, [pictures[0], letter]);
  await at.page.waitForFunction(() => document.getElementById("sent").textContent.trim() === "1 photo added. 1 not added.");
  assert.match(await text(at, ".uploads"), /letter\.txt\s+.*Not added\. This file is not a JPEG/);
  await press(at, ".uploads li button:last-child");
  await submit(at, "form[action='/add'] button.main");
  assert(await isThere(at, "#name[aria-invalid=true]"));
  assert.deepEqual([await value(at, "#category"), (await at.page.$$("#waiting [name=photo]:checked")).length], ["Dogs", 1]);
  await fill(at, "#name", "Poppy");
  await submit(at, "form[action='/add'] button.main");
  await submit(at, "a[href$='/photos']");
  assert.equal((await shown(at)).length, 1);
  await confirm(at, ".photos button[value^=delete]");
  assert.equal((await shown(at)).length, 0);
}

// Without the script, photos are added on their page.
async function withoutScript() {
  const at = await person();
  await at.page.setJavaScriptEnabled(false);
  await signIn(at, "Ben");
  await at.page.goto(`${origin}/add`);
  assert.equal(await at.page.$eval("#pictures", (input) => input.checkVisibility()), false);
  await fill(at, "#name", "Piper");
  await fill(at, "#category", "Dogs");
  await submit(at, "form[action='/add'] button.main");
  await submit(at, "a[href$='/photos']");
  await choosePictures(at, pictures.slice(0, 2));
  await submit(at, "#upload button");
  await says(at, "2 photos");
  assert.equal((await shown(at)).length, 2);
  await at.context.close();
}

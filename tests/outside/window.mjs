// Looks at every page of the window in Chromium, in each state, without script, on a computer and on phones, light and
// dark: axe-core finds nothing, nothing scrolls sideways, the layout does not shift, and the browser reports nothing
// and asks no other host. Then the HTML validator checks the same pages, the types of schema.org what they tell search
// engines, and a reader of feeds the feed, and window/pictures.mjs what a browser loads of photos. Leaves screenshots.
//
//   PETSTORE_URL=... PETSTORE_KEY=... WINDOW_URL=... node window.mjs CHROMIUM FOLDER

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";

import Validator from "@adobe/structured-data-validator";
import WebAutoExtractor from "@marbec/web-auto-extractor";
import axe from "axe-core";
import puppeteer from "puppeteer-core";
import Parser from "rss-parser";

import { checkPictures } from "./window/pictures.mjs";

const [chromium, folder] = process.argv.slice(2);
const { PETSTORE_URL: api, PETSTORE_KEY: key, WINDOW_URL: origin } = process.env;
const HOSTILE = ["<script>alert(1)</script>", "كلب صغير", "a\u0001\u202eevil", "🐕 Fluffy 🐾", "n".repeat(20000)];
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const TEXT = "She came to us with her two kittens, who have both found a home.\n\nShe likes to watch birds,\nand to sleep.";

async function send(method, path, body, headers = {}) {
  const fields = { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers };
  const response = await fetch(`${api}${path}`, { method, headers: fields, body: body && JSON.stringify(body) });
  assert(response.ok, `${path}: ${response.status} ${await response.clone().text()}`);
  return response.json();
}

function add(name, fields, more = {}) {
  return send("POST", "/store/pets", { name, categoryId: 1, fields, ...more });
}

await send("PUT", "/store/categories/1", { label: "Animals & more" }, { "if-none-match": "*" });
for (const name of HOSTILE) await add(name, { breed: name.slice(0, 200), description: `${name.slice(0, 7000)}\n\nEnd` });
const gone = await add("Rex", {}, { status: "sold" });
const withdrawn = await add("Mia", {});
await send("POST", `/store/pets/${withdrawn.id}/withdraw`, { reason: "died" }, { "if-match": "*" });
const ANIMALS = [
  ["Coral", { species: "Fish", breed: "Ranchu goldfish", price: "12.50" }],
  ["Stella", { species: "Horse", breed: "Haflinger", sex: "Female", born: "2012-05-20", price: "2400.00" }],
  ["Ziggy", { species: "Other", breed: "Praying mantis" }],
  ["Shelly", { species: "Reptile", breed: "Greek tortoise", sex: "Female", born: "1998-04-01", price: "180.00" }],
  ["Kiwi", { species: "Bird", breed: "Budgerigar", sex: "Male", born: "2025-02-11", price: "30.00" }],
  ["Nugget", { species: "Small mammal", breed: "Golden hamster", sex: "Female", price: "15.00" }, { status: "pending" }],
  ["Pip", { species: "Rabbit", breed: "Dwarf lop", sex: "Male", price: "45.00" }],
  ["Bruno", { species: "Dog", breed: "Labrador mix", sex: "Male", born: "2021-08-14", price: "350.00" }],
  ["Luna", { species: "Cat", breed: "European Shorthair", sex: "Female", born: "2023-05-03", colour: "Tabby", size: "Small", description: TEXT, price: "120.00" }],
];
for (let round = 0; round < 3; round += 1) for (const [name, fields, more] of ANIMALS) await add(name, fields, more);
const [luna, , , nugget, , , ziggy] = await (await fetch(`${origin}/animals.json`)).json();

const PAGES = {
  list: "/",
  "the last page": `/?cursor=${withdrawn.id}`,
  "a filter": "/?field.species=Cat&field.sex=Female&name=luna",
  "those that wait longest first": "/?sort=longest&field.species=Cat",
  "a filter that finds nothing": "/?field.species=Cat&name=nobody",
  "a search": "/?q=european+cat&age=3&field.species=Cat",
  "a search that finds nothing": "/?q=nobody&age=8",
  embed: "/embed?limit=8",
  animal: new URL(luna.url).pathname,
  "an animal without a price": new URL(ziggy.url).pathname,
  "a reserved animal": new URL(nugget.url).pathname,
  ...Object.fromEntries(HOSTILE.map((_, at) => [`hostile ${at + 1}`, `/animals/${at + 1}`])),
  "an animal with a home": `/animals/${gone.id}`,
  "a withdrawn animal": `/animals/${withdrawn.id}`,
  "a missing animal": "/animals/999999",
  "an invalid address": "/?cursor=x",
};

const complaints = [];
const launch = () => puppeteer.launch({
  executablePath: chromium,
  // Root may not use the sandbox, and these pages are our own.
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en-GB"],
});
const browser = await launch();
mkdirSync(folder, { recursive: true });
try {
  const page = await browser.newPage();
  page.on("console", (message) => {
    // The browser also reports each page whose status says what is wrong.
    const isStatus = message.text().startsWith("Failed to load resource");
    if (["error", "warn"].includes(message.type()) && !isStatus) complaints.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith("data:") && new URL(request.url()).origin !== origin) complaints.push(`a request to ${request.url()}`);
  });
  // The policy of the pages blocks scripts, so axe-core is injected before a page loads.
  await page.evaluateOnNewDocument(axe.source);
  await page.evaluateOnNewDocument(() => {
    window.shifts = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.shifts += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  for (const [what, path] of Object.entries(PAGES)) {
    for (const width of [1280, 390, 320]) {
      for (const scheme of ["light", "dark"]) {
        await page.setViewport({ width, height: width === 320 ? 256 : 844 });
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
        await page.goto(`${origin}${path}`);
        const here = `${what}, ${width} px, ${scheme}`;
        // Also what is closed.
        await page.$$eval("details", (all) => all.forEach((details) => { details.open = true; }));
        const found = await page.evaluate(async (tags) => (await axe.run({ runOnly: tags })).violations, TAGS);
        assert.deepEqual(found.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), [], here);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert(wider <= 0, `${here}: it is ${wider} px too wide`);
      }
    }
    await page.setViewport({ width: 390, height: 844 });
    await page.goto(`${origin}${path}`);
    assert.equal(await page.evaluate(() => window.shifts), 0, `${what}: the layout shifts`);
  }
  // A browser keeps a page for a minute, in the language that it had.
  await page.setCacheEnabled(false);
  for (const language of ["de", "fr", "es", null]) {
    await send("PATCH", "/store/profile", { language }, { "content-type": "application/merge-patch+json", "if-match": "*" });
    if (!language) break;
    for (const [what, path] of Object.entries(PAGES)) {
      for (const scheme of ["light", "dark"]) {
        await page.setViewport({ width: 320, height: 640 });
        await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
        await page.goto(`${origin}${path}`);
        const here = `${what} in ${language}, ${scheme}`;
        assert.equal(await page.$eval("html", (of) => of.lang), language, here);
        await page.$$eval("details", (all) => all.forEach((details) => { details.open = true; }));
        const found = await page.evaluate(async (tags) => (await axe.run({ runOnly: tags })).violations, TAGS);
        assert.deepEqual(found.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]), [], here);
        const wider = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert(wider <= 0, `${here}: it is ${wider} px too wide`);
      }
    }
    console.log(`Every page in ${language}: axe-core finds nothing, and nothing scrolls sideways at 320 px.`);
  }
  await page.setCacheEnabled(true);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  await page.setViewport({ width: 390, height: 844 });
  await page.goto(`${origin}/?field.species=Cat`);
  const first = await page.$eval(".cards .pet", (of) => Math.round(of.getBoundingClientRect().top));
  assert(first <= 300, `with a filter, the first animal begins at ${first} px`);
  console.log(`With a filter, the first animal begins at ${first} px on a phone.`);
  // To the animal in three touches: its species, the filter, the animal.
  await page.goto(origin);
  const touch = async (what, of = page) => Promise.all([page.waitForNavigation(), (await of.waitForSelector(what)).click()]);
  await touch(".kinds a[href='/?field.species=Cat']");
  await page.click(".filter summary");
  await page.select("select[name='age']", "3");
  await touch(".panel button");
  const address = new URL(page.url()).search;
  assert.equal(address, "?field.species=Cat&age=3", "an address with empty parameters");
  await touch(".cards a");
  // The button is in view from the first line to the last, and covers none of them at the end.
  for (const share of [0, 0.5, 1]) {
    await page.evaluate((of) => scrollTo(0, of * document.body.scrollHeight), share);
    const [button, facts] = await page.evaluate(() => [".ask .button", ".facts"].map((what) => document.querySelector(what).getBoundingClientRect().toJSON()));
    assert(button.bottom <= 844 || share === 1, `the button ends at ${button.bottom} px`);
    assert(share < 1 || facts.bottom <= button.top, "the button covers the facts");
  }
  await page.setCacheEnabled(false);
  for (const [name, path, width, height] of [["list", "/", 1280, 900], ["animal", PAGES.animal, 1280, 900], ["phone", "/", 390, 844]]) {
    await page.setViewport({ width, height });
    await page.goto(`${origin}${path}`);
    await page.screenshot({ path: `${folder}/window-${name}.webp`, type: "webp", quality: 80 });
  }
} finally {
  await browser.close();
}
assert.deepEqual(complaints, []);
console.log(`axe-core finds nothing on ${Object.keys(PAGES).length} pages, at three widths, light and dark.`);

let at = 0;
const [files, things] = [[], []];
// What search engines require of each type. They recommend more than a store has.
const required = new Validator();
for (const path of Object.values(PAGES)) {
  at += 1;
  files.push(`${folder}/${at}.html`);
  const page = await (await fetch(`${origin}${path}`)).text();
  writeFileSync(files.at(-1), page);
  const [, thing] = page.match(/<script type="application\/ld\+json">(.*?)<\/script>/s) ?? [];
  if (thing) things.push(JSON.stringify(JSON.parse(thing)));
  const found = await required.validate(new WebAutoExtractor({ addLocation: true }).parse(page));
  // An offer without a photo is only less prominent, and not every animal has one.
  const isWrong = ({ issueMessage }) => issueMessage !== 'Required attribute "image" is missing';
  const errors = found.filter((issue) => issue.severity === "ERROR" && isWrong(issue));
  assert.deepEqual(errors.map(({ issueMessage }) => issueMessage), [], path);
}
const validator = new URL("node_modules/vnu-jar/build/dist/vnu.jar", import.meta.url).pathname;
execFileSync("java", ["-jar", validator, "--also-check-svg", ...files], { stdio: ["ignore", "inherit", "inherit"] });
console.log("The HTML validator finds nothing.");

// Each type of schema.org with its properties, as TypeScript knows them.
const types = new URL("things.ts", import.meta.url).pathname;
writeFileSync(types, `import type { CollectionPage, ItemPage, WebPage, WithContext } from "schema-dts";
export const things: WithContext<CollectionPage | ItemPage | WebPage>[] = [${things.join(",\n")}];\n`);
const tsc = new URL("node_modules/typescript/bin/tsc", import.meta.url).pathname;
execFileSync("node", [tsc, "--noEmit", "--strict", "--skipLibCheck", types], { stdio: ["ignore", "inherit", "inherit"] });
console.log(`The types of schema.org have all that ${things.length} pages tell search engines.`);

const feed = await new Parser().parseURL(`${origin}/animals.atom`);
assert.equal(feed.title, "Paws & Co.");
const [newest] = feed.items;
assert.deepEqual([newest.title, newest.link, newest.id], [luna.name, luna.url, luna.url]);
assert(Date.now() - new Date(newest.isoDate) < 600000, newest.isoDate);
console.log(`A reader of feeds finds ${feed.items.length} animals.`);

async function addPhoto(pet, picture) {
  const fields = { authorization: `Bearer ${key}`, "content-type": "image/jpeg" };
  const response = await fetch(`${api}/store/pets/${pet}/photos`, { method: "POST", headers: fields, body: picture });
  assert.equal(response.status, 201, await response.text());
}
const viewer = await launch();
try {
  await checkPictures(viewer, origin, { add: (name) => add(name, { species: "Cat" }), addPhoto, folder });
} finally {
  await viewer.close();
}
console.log("Browsers load of photos what their pages need.");

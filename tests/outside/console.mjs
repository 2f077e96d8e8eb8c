// Works through a day in a store in Chromium, as a member of the staff would: by mouse, by keyboard only, and
// without script. Then two people do the same things at once. Measures every page and state against WCAG 2.2 AA
// with axe-core, and looks for horizontal scrolling at 400 % zoom. With CONSOLE_LOOKS=all, also on a phone and in dark
// colours.
//
//   CONSOLE_URL=... CONSOLE_LINKS='manager-link clerk-link viewer-link' node console.mjs CHROMIUM [SCREENSHOTS]
//
// The links are those of `petstore staff add` for Anna (manager), Ben (clerk) and Cleo (viewer). The store must
// have no animals yet. Fails if a page asks another host for anything, if the browser reports an error or a
// violation of the Content-Security-Policy, if axe-core finds a violation, or if a page is heavier than 60 KB.

import assert from "node:assert/strict";

import { counter } from "./console/counter.mjs";
import {
  PASSWORD, away, browser, choose, choosePassword, complaints, confirm, done, fill, isThere, keyboard, measure, mouse, origin, person,
  prepare, press, says, screenshots, signIn, submit, text, value,
} from "./console/people.mjs";
import { days } from "./console/days.mjs";
import { hands } from "./console/hands.mjs";
import { languages } from "./console/languages.mjs";
import { passkeys } from "./console/passkeys.mjs";
import { photos } from "./console/photos.mjs";
import { aNewStore, states } from "./console/states.mjs";
import { uploads } from "./console/uploads.mjs";

const links = process.env.CONSOLE_LINKS.split(/\s+/).filter(Boolean);
const HOSTILE = ["<script>alert(1)</script>", "كلب صغير", "a\u0001\u202eevil", "🐕 Fluffy 🐾", "n".repeat(20000)];

try {
  const [anna, ben, cleo] = [await person(), await person(), await person()];
  await choosePassword(anna, links[0], "Anna");
  await choosePassword(ben, links[1], "Ben");
  await choosePassword(cleo, links[2], "Cleo");
  await aNewStore(anna);

  for (const [id, label] of [[1, "Dogs"], [2, "Cats"], [3, "Birds"]]) {
    await anna.page.goto(`${origin}/categories`);
    await fill(anna, "#label", label);
    assert.equal(await value(anna, "#number"), String(id));
    await submit(anna, "main .main");
    await says(anna, "Saved.");
  }
  console.log("A manager names three categories.");

  for (const [name, hand] of [["the mouse", mouse], ["the keyboard only", keyboard], ["the mouse, without script", mouse], ["a phone", mouse]]) {
    const at = await person();
    if (name.endsWith("script")) await at.page.setJavaScriptEnabled(false);
    if (name.endsWith("phone")) await at.page.setViewport({ width: 390, height: 844, hasTouch: true });
    await signIn(at, "Ben", hand);
    done(at, "sign in");
    await aDay(at, hand, name.replace(/\W+/g, " "));
    await at.context.close();
    console.log(`A clerk finds, adds, reserves, sells, takes back, edits, withdraws and restores animals with ${name}.`);
    if (hand === mouse) console.log(`  Presses + fields, with ${name}: ${at.effort.join(", ")}.`);
  }

  await theManager(anna);
  await twoAtOnce(anna, ben);
  await hostileNames(ben);
  await liveUpdates(anna, ben);
  await counter(anna, ben);
  await hands(anna, ben);
  await photos();
  await uploads();
  await aViewer(cleo);
  await theSessionEnds(ben);
  await states(anna, ben);
  await measureAll(anna);
  await days(anna);
  await languages(anna, origin);
  await passkeys(anna);

  assert.deepEqual(complaints, []);
  console.log("No page asked another host, and the browser reported nothing.");
} finally {
  await browser.close();
}

// --- What people do ----------------------------------------------------------

// Finds an animal from the first page, and opens it.
async function find(at, name, hand) {
  await at.page.goto(`${origin}/`);
  await fill(at, "#q", name, hand);
  await submit(at, "main [role=search] button", hand);
  await submit(at, "#results td.first a", hand);
  assert.equal(await text(at, "h1"), name);
}

async function aDay(at, hand, which) {
  const { page } = at;
  const name = `Rex of ${which}`;
  await page.goto(`${origin}/add`);
  await submit(at, "form[action='/add'] button", hand);
  assert((await text(at, ".problem")).includes("Enter the name"));
  await fill(at, "#name", name, hand);
  await fill(at, "#category", "Lions", hand);
  await submit(at, "form[action='/add'] button", hand);
  assert.equal(await text(at, "#category-error"), "There is no category “Lions”. Choose one from the list, or type its number.");
  // What was typed is still there.
  assert.equal(await value(at, "#name"), name);
  assert(await isThere(at, "button[name=new-category]"));
  Object.assign(at, { presses: 0, fields: 1 });
  await fill(at, "#category", "Dogs", hand);
  await submit(at, "form[action='/add'] button", hand);
  await says(at, "Added as animal");
  done(at, "add");

  await find(at, name, hand);
  done(at, "find");
  await press(at, "#reserve summary", hand);
  await fill(at, "#reference", "T-7", hand);
  await submit(at, "#work button[value=reserve]", hand);
  await says(at, "Reserved (order");
  assert.equal(await text(at, ".head .badge"), "Reserved");
  done(at, "reserve");

  await page.goto(`${origin}/orders`);
  await fill(at, "#q", "T-7", hand);
  await submit(at, "main [role=search] button", hand);
  await submit(at, "#results td.number a", hand);
  await press(at, "#order form > details summary", hand);
  await extend(at, hand);
  await says(at, "The end of the reservation has been changed.");
  done(at, "find the order and extend");
  await submit(at, "#work button[formaction$=cancel]", hand);
  await says(at, "The reservation has been cancelled.");
  done(at, "cancel");
  await submit(at, "#work button[value=sell]", hand);
  await says(at, "Sold (order");
  done(at, "sell");
  await press(at, "#work details summary", hand);
  await fill(at, "#reason", "It bites", hand);
  await submit(at, "#work button[formaction$=return]", hand);
  await says(at, "Returned.");
  done(at, "take back");
  assert((await text(at, ".history")).includes("Reason: It bites"));

  await submit(at, ".head a.button", hand);
  await fill(at, "#name", `${name} II`, hand);
  await choose(at, "#status", "pending", hand);
  await submit(at, "form.card .main", hand);
  await says(at, "Saved.");
  done(at, "correct");
  assert((await text(at, ".history")).includes(`${name} → ${name} II`));
  await press(at, "details.card summary", hand);
  await choose(at, "#why", "mistake", hand);
  await submit(at, "form[action$=withdraw] button", hand);
  await says(at, "The animal is no longer in the usual lists.");
  done(at, "withdraw");
  await submit(at, "form[action$=restore] button", hand);
  await says(at, "Restored.");
  done(at, "restore");

  await page.goto(`${origin}/add`);
  await paste(at, `Max ${which}\tDogs\nMia ${which}\tCows\nMoe ${which}\t3\tsold`, hand);
  assert.match(await text(at, "tr.wrong"), /There is no category “Cows”/);
  await paste(at, `Max ${which}\tDogs\nMia ${which}\tcats\nMoe ${which}\t3\tsold`, hand);
  if (hand === mouse && screenshots && !which.includes("script")) await picture(at, "preview");
  await submit(at, "form[action='/add/many'] button", hand);
  await says(at, "3 animals added.");
  done(at, "add three by pasting, with a mistake");

  await page.goto(`${origin}/animals?q=M&status=available&category=1`);
  const before = await page.$$eval("td.tick input[name=pet]", (boxes) => boxes.length);
  await press(at, "input[name=pet]", hand);
  await press(at, "#selected details:has(#to) summary", hand);
  await fill(at, "#to", "Birds", hand);
  await submit(at, "button[value=move]", hand);
  await says(at, "Saved.");
  const after = await page.$$eval("td.tick input[name=pet]", (boxes) => boxes.length);
  assert.equal(after, before - 1);
  done(at, "move to another category");
}

// Another day for the end of the reservation, as the fields of the browser want it.
async function extend(at, hand) {
  const later = new Date(Date.now() + 20 * 86400000).toISOString().slice(0, 10);
  const [year, month, day] = later.split("-");
  if (hand === keyboard) {
    const isThere = () => at.page.$eval("#until", (input) => input === document.activeElement);
    while (!(await isThere())) await at.page.keyboard.press("Tab");
  } else {
    // A click may lead to the day or to the year, depending on the width.
    await at.page.focus("#until");
    at.fields += 1;
  }
  const order = await at.page.$eval("#until", () => new Intl.DateTimeFormat().formatToParts().map(({ type }) => type));
  const parts = { year: year.padStart(6, "0"), month, day };
  for (const part of order.filter((type) => type in parts)) await at.page.keyboard.type(parts[part]);
  assert.equal(await value(at, "#until"), later);
  await submit(at, "form[action$=change] details .fields button", hand);
}

// Lines from a spreadsheet, with their tabs.
async function paste(at, lines, hand) {
  if (hand === keyboard) await fill(at, "#lines", "-", hand);
  else if (!(await (await at.page.$("#lines")).isVisible())) await press(at, "details.card summary", hand);
  await at.page.$eval("#lines", (field, lines) => { field.value = lines; }, lines);
  await submit(at, "form[action='/add/preview'] button", hand);
}

async function theManager(anna) {
  const { page } = anna;
  await page.goto(`${origin}/activity`);
  assert.match(await text(anna, "main table"), /Ben/);
  const [exported] = await Promise.all([
    page.waitForResponse((response) => response.url().includes("/activity/export")),
    page.evaluate(() => fetch("/activity/export").then((response) => response.text())),
  ]);
  assert.match(await exported.text(), /^time,who,what,about,before,after\n/);
  await page.goto(`${origin}/settings/webhooks`);
  await fill(anna, "#url", "ftp://example.com");
  await submit(anna, "main .main");
  assert(await isThere(anna, "#url-error"));
  await measure(anna, undefined, "an address that is not possible");
  await fill(anna, "#url", "https://hooks.example.com/petstore");
  await submit(anna, "main .main");
  assert.match(await text(anna, ".secret"), /^whsec_/);
  await measure(anna, undefined, "a secret");
  await submit(anna, "main .main");
  await submit(anna, "td.first a");
  await submit(anna, "form[action$=test] button");
  await says(anna, "A test message is on its way.");
  await measure(anna, undefined, "a webhook");
  await submit(anna, "form[action$=rotate] button");
  assert.match(await text(anna, ".secret"), /^whsec_/);
  await submit(anna, "main .main");
  await confirm(anna, "form[action$=disable] button");
  await says(anna, "Nothing more is sent to it.");
  await submit(anna, "form[action$=resume] button");
  await says(anna, "The webhook is enabled.");
  await press(anna, "details summary");
  await confirm(anna, "form[action$=delete] button");
  await says(anna, "Deleted.");
  console.log("A manager searches and exports the activity, and adds, tests, rotates, disables and deletes a webhook.");
}

// Adds an animal, and returns the address of its page.
async function add(at, name) {
  await at.page.goto(`${origin}/add`);
  await at.page.$eval("#name", (field, name) => { field.value = name; }, name);
  await fill(at, "#category", "Cats");
  await submit(at, "form[action='/add'] button");
  return at.page.url();
}

async function twoAtOnce(anna, ben) {
  // Both edit one animal.
  const luna = await add(anna, "Luna");
  await anna.page.goto(`${luna}/edit`);
  await ben.page.goto(`${luna}/edit`);
  await fill(anna, "#name", "Luna Moon");
  await submit(anna, "form.card .main");
  await fill(ben, "#category", "Dogs");
  await fill(ben, "#name", "Lunetta");
  await submit(ben, "form.card .main");
  assert.equal(await text(ben, "h1"), "Somebody else changed this animal");
  assert.match(await text(ben, "#theirs"), /Luna Moon\s*different/);
  assert.match(await text(ben, "#theirs"), /Changed by Anna/);
  assert.deepEqual([await value(ben, "#name"), await value(ben, "#category")], ["Lunetta", "Dogs"]);
  await measure(ben, undefined, "a conflict");
  if (screenshots) await picture(ben, "conflict");
  await submit(ben, "form.fields .main");
  await says(ben, "Saved.");
  assert.equal(await text(ben, "h1"), "Lunetta");
  assert.match(await text(ben, ".history"), /Luna Moon → Lunetta/);

  // A double click makes one order, and so does a second press after "back".
  await ben.page.goto(luna);
  // Both before anything can follow the first one, else the second one can meet a button of the next page.
  const twice = ben.page.$eval("#work button[value=reserve]", (button) => [1, 2].forEach(() => button.click()));
  await Promise.all([ben.page.waitForNavigation(), twice]);
  await ben.page.waitForSelector(".head .badge.pending");
  const orders = async () => {
    await anna.page.goto(luna);
    return anna.page.$$eval(".history strong", (all) => all.filter(({ textContent }) => textContent === "Reserved").length);
  };
  assert.equal(await orders(), 1);
  await ben.page.reload();
  assert.equal(await text(ben, ".head .badge"), "Reserved");
  assert.equal(await isThere(ben, ".flash"), false, "a message is shown once");
  await ben.page.goto(luna);
  await submit(ben, "#work button[formaction$=cancel]");
  await ben.page.goBack();
  await ben.page.waitForSelector("h1");
  if (await isThere(ben, "#work button[formaction$=cancel]")) {
    await submit(ben, "#work button[formaction$=cancel]");
    await says(ben, "The reservation has been cancelled.");
  }
  assert.equal(await orders(), 1);

  // Two tabs offer the animal to two customers.
  const other = { page: await ben.context.newPage() };
  await prepare(other.page);
  await ben.page.goto(luna);
  await other.page.goto(luna);
  // Somebody uses the form in the other tab, so it keeps what is not true any more, and says so.
  await other.page.$eval("#reserve", (form) => { form.parentElement.open = true; });
  await other.page.focus("#until");
  await ben.page.bringToFront();
  await submit(ben, "#work button[value=sell]");
  await says(ben, "Sold (order");
  await other.page.bringToFront();
  await other.page.waitForSelector("#news:not([hidden])");
  await submit(other, "#work button[value=sell]");
  await says(other, "It is already sold.");
  await measure(other, undefined, "an animal that was sold in another tab");
  await other.page.close();
  await ben.page.bringToFront();
  console.log("Two people and two tabs lose nothing, and a double click makes one order.");
}

async function hostileNames(at) {
  for (const name of HOSTILE) {
    const path = await add(at, name);
    for (const page of [path, `${path}/edit`]) await measure(at, page.slice(origin.length), "a hostile name", [320]);
    // Saving what was not touched changes nothing.
    await submit(at, "form.card .main");
    assert.doesNotMatch(await text(at, ".history"), /Changed/);
  }
  await measure(at, "/animals", "hostile names");
  console.log("Hostile names break no page.");
}

async function liveUpdates(anna, ben) {
  const nala = await add(ben, "Nala");
  await anna.page.bringToFront();
  await away(anna);
  await anna.page.goto(`${origin}/animals?q=Nala&status=all`);
  await anna.page.waitForSelector("#results .available");
  await anna.page.evaluate(() => document.querySelector("#q").focus());
  await request(ben, nala, "form[action$=order]", "sell");
  await anna.page.waitForSelector("#results .badge.sold");
  // A form that somebody is editing stays as it is.
  await anna.page.goto(nala);
  await press(anna, "#work summary");
  await fill(anna, "#reason", "half a sen");
  await request(ben, nala, "button[formaction$=return]", undefined);
  await anna.page.waitForFunction(() => document.querySelector("#news").dataset.shown === "changed");
  assert.equal(await value(anna, "#reason"), "half a sen");
  console.log("A change of one person appears on the page of another, but not in a form that is being edited.");
}

// Sends a form of a page from the background.
async function request(at, path, form, button) {
  const status = await at.page.evaluate(async (path, form, button) => {
    const page = new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html");
    const pressed = page.querySelector(form);
    const fields = new URLSearchParams(new FormData(pressed.form ?? pressed));
    if (button) fields.set("do", button);
    const action = pressed.getAttribute("formaction") ?? pressed.getAttribute("action");
    return (await fetch(action, { method: "POST", body: fields })).status;
  }, path, form, button);
  assert.equal(status, 200);
}

async function aViewer(cleo) {
  await cleo.page.goto(`${origin}/animals`);
  assert.equal(await isThere(cleo, "input[name=pet]"), false);
  await submit(cleo, "td.first a");
  assert.equal(await isThere(cleo, "main form"), false);
  await measure(cleo, undefined, "an animal for a viewer");
  for (const path of ["/add", "/activity", "/settings/webhooks"]) {
    const response = await cleo.page.goto(`${origin}${path}`);
    assert.equal(response.status(), 403, path);
  }
  await measure(cleo, undefined, "a page that is not allowed");
  await cleo.page.goto(`${origin}/`);
  assert.equal(await isThere(cleo, "a[href='/add']"), false);
  console.log("A viewer sees everything, and can change nothing.");
}

// What was typed survives that a session ends.
async function theSessionEnds(ben) {
  const path = await add(ben, "Simba");
  await ben.page.goto(`${path}/edit`);
  await fill(ben, "#name", "Simba the second");
  await ben.context.deleteCookie(...(await ben.context.cookies()));
  await submit(ben, "form.card .main");
  await measure(ben, undefined, "signing in again");
  await fill(ben, "#name", "Ben");
  await fill(ben, "#password", PASSWORD);
  await submit(ben, "main .main");
  // The page shows what it sends, and waits for a press.
  assert.match(await text(ben, "main"), /Simba the second/);
  await submit(ben, "main form .main");
  await says(ben, "Saved.");
  assert.equal(await text(ben, "h1"), "Simba the second");
  console.log("What was typed survives that a session ends.");
}

// --- What is measured --------------------------------------------------------

async function measureAll(anna) {
  await anna.page.goto(`${origin}/animals?q=Rex`);
  const animal = await anna.page.$eval("td.first a", (link) => link.getAttribute("href"));
  await anna.page.goto(`${origin}/orders?status=all`);
  const order = await anna.page.$eval("td.number a", (link) => link.getAttribute("href"));
  const pages = ["/", "/animals", "/animals?q=nothing+like+this", "/animals?status=withdrawn", animal, `${animal}/edit`, "/add",
    "/categories", "/orders", "/orders?status=completed", order, "/activity", "/settings/webhooks", "/settings/staff",
    "/settings/keys", "/account", "/animals/999999"];
  for (const path of pages) await measure(anna, path, path);
  await printed(anna, order);
  if (!screenshots) return;
  for (const [name, days] of [["Bella", 1], ["Coco", 2], ["Charlie", undefined]]) {
    await add(anna, name);
    if (!days) break;
    const until = new Date(Date.now() + days * 86400000).toISOString().slice(0, 10);
    await anna.page.$eval("#until", (field, until) => { field.value = until; }, until);
    await press(anna, "#reserve summary");
    await fill(anna, "#reference", `T-104${days}`);
    await submit(anna, "#work button[value=reserve]");
  }
  await picture(anna, "animal");
  await anna.page.goto(`${origin}/`);
  await picture(anna, "today");
  await anna.page.setViewport({ width: 390, height: 780, deviceScaleFactor: 1 });
  await anna.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  await anna.page.goto(`${origin}/`);
  await anna.page.screenshot({ path: `${screenshots}/console-phone.webp`, quality: 75 });
}

// An order on paper has what the customer needs, and no menu and no button.
async function printed(at, order) {
  await at.page.goto(`${origin}${order}`);
  await at.page.emulateMediaType("print");
  const paper = await text(at, "body");
  for (const part of [/Order \d+/, /Signed by/, /Rex|Max|Mia|Moe|Luna|Nala|Simba|Fluffy|Pip/]) assert.match(paper, part);
  assert.doesNotMatch(paper, /Sign out|Settings|Record a return|Cancel the reservation|Print/);
  await at.page.emulateMediaType();
  console.log("A printed order has what the customer needs, and no menu and no button.");
}

async function picture(at, name) {
  await at.page.setViewport({ width: 1080, height: 700 });
  await at.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  await at.page.screenshot({ path: `${screenshots}/console-${name}.webp`, quality: 75 });
  await at.page.setViewport({ width: 1280, height: 900 });
}

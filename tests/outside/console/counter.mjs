// At the counter: pages that follow the store while somebody works, paper, what a failure leaves, and the focus.

import assert from "node:assert/strict";
import net from "node:net";

import { away, complaints, fill, isThere, mouse, origin, person, press, signIn, submit, text, value } from "./people.mjs";

export async function counter(anna, ben) {
  await aWrongSale(ben);
  await theWholePageFollows(anna, ben);
  await aSlowNetwork(anna, ben);
  await onPaper(ben);
  await anOutage(ben);
  await focusAndTouch(ben);
}

// Adds an animal, and returns the address of its page.
async function add(at, name) {
  await at.page.goto(`${origin}/add`);
  await fill(at, "#name", name);
  await fill(at, "#category", "1");
  await submit(at, "form[action='/add'] button");
  return at.page.url();
}

// Sends the form at `selector` of a page from the background, with these fields changed.
async function send(at, path, selector, fields) {
  const status = await at.page.evaluate(async (path, selector, fields) => {
    const page = new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html");
    const pressed = page.querySelector(selector);
    const body = new URLSearchParams({ ...Object.fromEntries(new FormData(pressed.form ?? pressed)), ...fields });
    const action = pressed.getAttribute("formaction") ?? pressed.getAttribute("action");
    return (await fetch(action, { method: "POST", body })).status;
  }, path, selector, fields);
  assert.equal(status, 200);
}

// The message about a sale can undo it.
async function aWrongSale(ben) {
  await add(ben, "Wilma");
  await submit(ben, "form[action$=order] button[value=sell]");
  assert.equal(await text(ben, ".head .badge"), "Sold");
  await submit(ben, "form[data-undo] button");
  assert.equal(await text(ben, ".head .badge"), "Available");
  console.log("A wrong sale is put right with one press.");
}

// Everything on the page of an animal follows, or nothing, because parts from two moments contradict each other.
async function theWholePageFollows(anna, ben) {
  const { page } = anna;
  const path = await add(ben, "Otto");
  await page.bringToFront();
  await away(anna);
  await page.goto(path);
  await send(ben, `${path}/edit`, "form.card", { name: "Otto the Great" });
  await page.waitForFunction(() => document.querySelector("h1").innerText === "Otto the Great");
  await send(ben, path, "form[action$=order]", { do: "sell" });
  await page.waitForSelector(".head .badge.sold");
  assert.equal(await isThere(anna, "button[value=reserve]"), false);
  assert(await isThere(anna, "button[formaction$=return]"));
  assert.match(await page.title(), /^Otto the Great/);
  assert.equal(await page.$eval("#news", ({ hidden }) => hidden), true);

  // While somebody types, the page stays as it is, and says so.
  await press(anna, "#work summary");
  await fill(anna, "#reason", "half a sen");
  await send(ben, path, "button[formaction$=return]", {});
  await page.waitForSelector("#news:not([hidden])");
  assert.match(await text(anna, "#news"), /Somebody has changed something on this page/);
  assert.deepEqual([await text(anna, ".head .badge"), await value(anna, "#reason")], ["Sold", "half a sen"]);
  await submit(anna, "#news a");
  assert.equal(await text(anna, ".head .badge"), "Available");
  console.log("All of an open page follows the store, or nothing while somebody types, and the page says so.");
}

// A page shows what changes before it begins to follow, and the newest search, also if responses overtake each other.
async function aSlowNetwork(anna, ben) {
  await add(ben, "Quincy");
  const path = await add(ben, "Quinn");
  const page = await anna.context.newPage();
  // Holds each request to an address that ends so, until it is released.
  const held = new Map();
  const hold = (ending) => {
    let arrived;
    const isThere = new Promise((resolve) => (arrived = resolve));
    held.set(ending, arrived);
    return async () => (await isThere).continue();
  };
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const ending = [...held.keys()].find((ending) => request.url().match(`${ending}$`));
    if (!ending) return request.continue();
    held.get(ending)(request);
    return held.delete(ending);
  });

  const follow = hold("/live[?].*");
  await page.goto(path);
  await send(ben, `${path}/edit`, "form.card", { name: "Quinn the Late" });
  const isChanged = () => document.querySelector("h1").innerText === "Quinn the Late";
  await ben.page.waitForFunction(isChanged);
  await follow();
  await page.waitForFunction(isChanged);

  await page.goto(`${origin}/animals`);
  const earlier = hold("q=Qu");
  await page.type("#q", "Qu");
  await page.waitForFunction(() => location.search === "?q=Qu");
  await page.type("#q", "inn");
  await page.waitForFunction(() => document.getElementById("heard").textContent === "1 animal");
  const isOver = page.evaluate(() => new Promise((resolve) =>
    new MutationObserver(resolve).observe(document.getElementById("heard"), { childList: true })).then(() => true));
  await earlier();
  assert(await isOver);
  assert.equal(await page.$eval("#results", ({ dataset }) => dataset.found), "1 animal");
  assert.equal(new URL(page.url()).search, "?q=Quinn");
  await page.close();
  console.log("On a slow network, a page misses no change, and shows the newest search.");
}

// A list, an animal and an order on paper have what belongs there, and no buttons or empty headings.
async function onPaper(ben) {
  const { page } = ben;
  const animal = await add(ben, "Paula");
  const print = async (path, parts) => {
    if (path) await page.goto(path);
    await page.emulateMediaType("print");
    const paper = await text(ben, "body");
    for (const part of [/^Petstore\n/, /Paula/, ...parts]) assert.match(paper, part);
    assert.doesNotMatch(paper, /Sign out|Reserve\b|Sell|Left the|Record a departure|Edit|Print|Find|Select|History/);
    assert.equal(await page.evaluate(() => [...document.querySelectorAll("time:not([data-exact])")]
      .every((time) => /^"\d+ \w+ \d+, /.test(getComputedStyle(time, "::after").content.replace("attr(title)", `"${time.title}`)))), true);
    await page.emulateMediaType();
  };
  await print(`${origin}/animals?q=Paula`, [/In the store, “Paula”/, /Available/]);
  await print(animal, [/Available/, /Number\s+\d+/]);
  await submit(ben, "#work button[value=reserve]");
  await print(undefined, [/Reserved/]);
  await print(await page.$eval("#work h2 a", ({ href }) => href), [/Order \d+/, /Reserved until\s+\d+ \w+ \d+, 23:59/, /Signed by/]);
  console.log("Lists, animals and orders on paper have what belongs there.");
}

// While the service cannot be reached, pages that follow say so, and what was typed is not lost.
async function anOutage(ben) {
  const before = complaints.length;
  const { hostname, port } = new URL(origin);
  const open = new Set();
  const proxy = net.createServer((from) => {
    const to = net.connect(port, hostname);
    for (const [one, other] of [[from, to], [to, from]]) {
      open.add(one.on("error", () => {}).on("close", () => other.destroy()).pipe(other) && one);
    }
  });
  const start = (at) => new Promise((done) => proxy.listen(at, hostname, done));
  const stop = () => new Promise((done) => {
    proxy.close(done);
    open.forEach((socket) => socket.destroy());
  });
  await start(0);
  const away = proxy.address();
  const console_ = `http://${hostname}:${away.port}`;
  const { page } = ben;

  // Another port has a session of its own.
  await signIn(ben, "Ben", mouse, console_);
  await page.goto(`${console_}/animals`);
  assert.equal(await page.$eval("#news", ({ hidden }) => hidden), true);
  await stop();
  await page.waitForSelector("#news:not([hidden])");
  assert.match(await text(ben, "#news"), /The connection to the service has been lost/);
  await start(away.port);
  await page.waitForSelector("#news[hidden]");

  await page.goto(`${console_}/add`);
  await fill(ben, "#name", "Unsent");
  await fill(ben, "#category", "1");
  const key = await value(ben, "form[action='/add'] [name=_key]");
  await stop();
  await press(ben, "form[action='/add'] button");
  await page.waitForFunction(() => location.protocol === "chrome-error:");
  await start(away.port);
  // "Back" leads to the page before, because the form and its page have one address.
  await page.goBack();
  if (!page.url().endsWith("/add")) await submit(ben, "nav a[href='/add']");
  assert.deepEqual([await value(ben, "#name"), await value(ben, "#category")], ["Unsent", "1"]);
  assert.equal(await value(ben, "form[action='/add'] [name=_key]"), key);
  await submit(ben, "form[action='/add'] button");
  assert.equal(await text(ben, "h1"), "Unsent");
  await page.goBack();
  await page.waitForSelector("#name");
  assert.equal(await value(ben, "#name"), "", "what has arrived is not offered again");
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);

  // Also if the service has rejected it.
  await fill(ben, "#category", "1");
  await page.$eval("#name", (field) => { field.value = "x".repeat(600_000); });
  assert.equal((await submit(ben, "form[action='/add'] button")).status(), 413);
  await page.goBack();
  if (!page.url().endsWith("/add")) await submit(ben, "nav a[href='/add']");
  assert.equal((await value(ben, "#name")).length, 600_000);
  await page.goto(`${origin}/`);
  await stop();
  complaints.splice(before);
  console.log("An outage is told, and what was typed outlives it.");
}

// The focus is where people go on, what a search finds can be heard, and targets are large enough for a thumb.
async function focusAndTouch(ben) {
  const { page } = ben;
  const focus = () => page.evaluate(() => document.activeElement.id || document.activeElement.className);
  await page.goto(`${origin}/`);
  await page.waitForFunction(() => document.activeElement.id === "q");
  await page.goto(`${origin}/add`);
  await submit(ben, "form[action='/add'] button");
  await page.waitForFunction(() => document.activeElement.className === "problem");
  const stranger = await person();
  await stranger.page.goto(`${origin}/sign-in`);
  await stranger.page.waitForFunction(() => document.activeElement.id === "name");
  await stranger.context.close();

  await page.goto(`${origin}/animals`);
  await fill(ben, "#q", "Paula");
  await page.waitForFunction(() => document.getElementById("heard").textContent === "1 animal");
  await fill(ben, "#q", "nothing like this");
  await page.waitForFunction(() => document.getElementById("heard").textContent === "0 animals");

  // The actions of a long list, by keyboard.
  await page.goto(`${origin}/animals`);
  let steps = 0;
  for (; !(await focus()).startsWith("skip") || steps < 2; steps += 1) await page.keyboard.press("Tab");
  assert(steps < 25, `${steps} times Tab to the link to the actions`);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert(await page.evaluate(() => document.activeElement.matches("#selected :is(summary, button)")));

  await page.setViewport({ width: 390, height: 800, hasTouch: true });
  for (const path of ["/", "/animals", "/orders", "/orders?status=all", "/categories"]) {
    await page.goto(`${origin}${path}`);
    const small = await page.$$eval("nav a, main td a, main td button, main td label, .pages a, .who summary, .head a", (all) => all
      // All of a card is its link.
      .filter((target) => (target.closest(".pet") ?? target).getBoundingClientRect().height < 44)
      .map((target) => `${target.outerHTML} ${target.getBoundingClientRect().height}`));
    assert.deepEqual(small, [], path);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, path);
  }
  // The keyboard goes through the header as people read it, and the header leaves room.
  const places = await page.$$eval("header .bar > a, header nav a, header summary", (all) => all.map((part) => {
    const { left, top, height } = part.getBoundingClientRect();
    return [Math.round((top + height / 2) / 20), left];
  }));
  assert.deepEqual(places, places.toSorted(([one, left], [other, right]) => one - other || left - right));
  const height = await page.$eval("body > header", (header) => header.offsetHeight);
  assert(height <= 104, `the header is ${height} px high`);
  await page.setViewport({ width: 1280, height: 900 });
  console.log("The focus is where people go on, a search can be heard, and targets are 44 px high on a phone.");

  // The first screen of an animal says who it is, and what can be done with it.
  const values = { name: "Minka", category: "1", status: "available", "field.sex": "Female", "field.born": "2024-05-03", "field.breed": "Maine Coon", "field.price": "95" };
  await send(ben, "/add", "form[action='/add']", values);
  await page.goto(`${origin}/animals?q=Minka`);
  const minka = page.url().includes("?") ? await page.$eval("td.first a", (link) => link.href) : page.url();
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    await page.setViewport({ width, height });
    await page.goto(minka);
    const ends = await page.$$eval(".portrait .picture, .animal h1, .line, .animal .badge, .animal .price, .acts > details > summary", (all) =>
      all.map((part) => [part.className || part.localName, Math.round(part.getBoundingClientRect().bottom)]));
    assert.equal(ends.length, 7, JSON.stringify(ends));
    assert(ends.every(([, end]) => end <= height), `${width} px: ${JSON.stringify(ends)}`);
    await send(ben, minka, "form[action$=order]", { do: "reserve" });
    await page.reload();
    const end = await page.$eval("#work button[formaction$=complete]", (button) => button.getBoundingClientRect().bottom);
    assert(end <= height, `${width} px: the button that sells a reserved animal ends at ${end} px`);
    await send(ben, minka, "button[formaction$=cancel]", {});
    console.log(`The first screen of an animal at ${width} x ${height} ends at ${Math.max(...ends.map(([, end]) => end))} px.`);
  }
  await page.setViewport({ width: 1280, height: 900 });
}

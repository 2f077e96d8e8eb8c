// Nothing moves below a hand: while a pointer is over a list, or a key is down, changes of others are offered.

import assert from "node:assert/strict";

import { away, fill, origin, person, press, says, signIn, submit, text } from "./people.mjs";

export async function hands(anna, ben) {
  const names = ["Album", "Inky", "Jet"];
  const paths = [];
  for (const name of names) paths.push(await add(ben, name));
  const [album, inky, jet] = paths;
  await reserve(ben, inky, 2);
  await today(anna, inky);
  await aFinger(ben);
  await lists(anna, ben, jet);
  await keys(anna, ben, album);
  console.log("Nothing moves below a pointer or a key, and what changes meanwhile is offered.");
}

async function add(at, name) {
  await at.page.goto(`${origin}/add`);
  await fill(at, "#name", name);
  await fill(at, "#category", "1");
  await submit(at, "form[action='/add'] button");
  return at.page.url();
}

// Sends a form of a page from the background, or presses its button, with these fields.
async function send(at, path, form, fields) {
  const status = await at.page.evaluate(async (path, form, fields) => {
    const page = new DOMParser().parseFromString(await (await fetch(path)).text(), "text/html");
    const pressed = page.querySelector(form);
    const body = new URLSearchParams({ ...Object.fromEntries(new FormData(pressed.closest("form"))), ...fields });
    return (await fetch(pressed.getAttribute("formaction") ?? pressed.getAttribute("action"), { method: "POST", body })).status;
  }, path, form, fields);
  assert.equal(status, 200);
}

function reserve(at, path, days) {
  const until = new Date(Date.now() + days * 86400000).toISOString().slice(0, 10);
  return send(at, path, "form[action$=order]", { do: "reserve", until });
}

const rows = (at) => at.page.$$eval("tbody .first a", (all) => all.map(({ textContent }) => textContent.trim()));

// Where a button is. Somebody moves there, and presses some seconds later.
async function over(at, selector) {
  const { x, y, width, height } = await (await at.page.waitForSelector(selector)).boundingBox();
  await at.page.mouse.move(x + width / 2, y + height / 2);
  return { x: x + width / 2, y: y + height / 2 };
}

const offered = (at) => at.page.waitForFunction(() => document.querySelector("#news button")?.checkVisibility());

// A reservation that ends earlier belongs above the one that somebody is about to sell.
async function today(anna, inky) {
  const { page } = anna;
  await page.bringToFront();
  await away(anna);
  await page.goto(`${origin}/`);
  assert.deepEqual(await rows(anna), ["Inky"]);
  const place = await over(anna, "td.act button");
  const album = inky.replace(/\d+$/, (id) => id - 1);
  await reserve(anna, album, 1);
  await offered(anna);
  assert.equal(await text(anna, "#news button"), "1 change – show it");
  assert.deepEqual(await rows(anna), ["Inky"]);
  const sold = page.waitForNavigation();
  await page.mouse.click(place.x, place.y);
  await sold;
  await says(anna, "Sold (order");
  // The sale leads back to the page, and the page says which animal it was.
  assert.equal(await text(anna, "h1"), "Today");
  assert.equal(await text(anna, "#done a"), "Inky");
  await send(anna, album, "button[formaction$=cancel]", {});
}

// A finger is nowhere before it touches the screen. So no row moves before somebody asks for it.
async function aFinger(ben) {
  const phone = await person();
  await signIn(phone, "Anna");
  const { page } = phone;
  await page.setViewport({ width: 390, height: 844, hasTouch: true, isMobile: true });
  const paths = [];
  for (const [name, days] of [["Coco", 1], ["Willow", 2]]) {
    paths.push(await add(ben, name));
    await reserve(ben, paths.at(-1), days);
  }
  await page.bringToFront();
  await page.goto(`${origin}/`);
  const before = await rows(phone);
  assert.deepEqual(before.slice(-2), ["Coco", "Willow"]);
  await send(ben, paths[0], "button[formaction$=complete]", {});
  await offered(phone);
  assert.deepEqual(await rows(phone), before);
  await press(phone, "#news button");
  await page.waitForFunction(() => !document.querySelector("tbody").innerText.includes("Coco"));
  assert.equal(await page.$eval("#news", ({ hidden }) => hidden), true);
  // What keeps its place comes by itself.
  await send(ben, `${paths[1]}/edit`, "form.card", { name: "Willow II" });
  await page.waitForFunction(() => document.querySelector("main").innerText.includes("Willow II"));
  await phone.context.close();
}

// The list of animals and an animal offer what changed, too, and show it when the button is pressed.
async function lists(anna, ben, jet) {
  for (const [path, selector, badge] of [[`${origin}/animals?q=Jet`, "td.first", "tbody .badge"], [jet, ".history", ".head .badge"]]) {
    await away(anna);
    await anna.page.goto(path.replace("?", "?status=all&"));
    const before = await text(anna, badge);
    await over(anna, selector);
    await send(ben, jet, "form[action$=order], button[formaction$=return]", { do: "sell" });
    await offered(anna);
    assert.equal(await text(anna, badge), before);
    await press(anna, "#news button");
    await anna.page.waitForFunction((badge, before) => document.querySelector(badge).innerText !== before, {}, badge, before);
    assert.equal(await anna.page.$eval("#news", ({ hidden }) => hidden), true);
    assert.notEqual(await anna.page.evaluate(() => document.activeElement.tagName), "BODY");
  }
}

async function keys(anna, ben, album) {
  await away(anna);
  await anna.page.goto(album);
  await anna.page.keyboard.down("Shift");
  await send(ben, album, "form[action$=order]", { do: "sell" });
  await offered(anna);
  assert.equal(await text(anna, ".head .badge"), "Available");
  await anna.page.keyboard.up("Shift");
  await anna.page.waitForSelector(".head .badge.sold");
}

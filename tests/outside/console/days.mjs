// The days of the store in a browser: their words near the changes of the clocks, the choice of the time zone, and
// another day that begins while a page is open.

import assert from "node:assert/strict";
import fs from "node:fs";

import { measure, origin, says, submit, value } from "./people.mjs";

export async function days(anna) {
  const { page } = anna;
  await wordsNearChangesOfClocks(page);
  await theZoneOfTheStore(anna);
  await anotherDay(page);
  await page.emulateTimezone();
  console.log("Days have the words of the calendar of the store, whatever the zone of the device is.");
}

// The service has the same words for these moments: see the tests of wording.rs.
async function wordsNearChangesOfClocks(page) {
  const [, ...lines] = fs.readFileSync(new URL("days-in-words.csv", import.meta.url), "utf8").trim().split("\n");
  const all = lines.map((line) => line.split(","));
  for (const zone of new Set(all.map(([zone]) => zone))) {
    const moments = all.filter(([other]) => other === zone);
    const expected = moments.map(([, , , words]) => words);
    for (const [device, store] of [[zone, undefined], ["Asia/Tokyo", zone]]) {
      await page.emulateTimezone(device);
      await page.goto(`${origin}/account`);
      assert.deepEqual(await page.evaluate(words, moments, store), expected, `${device}, ${store}`);
    }
  }
  // A zone that the browser does not know leaves what the service wrote.
  assert.deepEqual(await page.evaluate(words, all.slice(0, 1), "Mars/Olympus"), ["as it came"]);
}

// Runs in a page. Returns the words of its script for these moments, in a store with this zone.
function words(moments, zone) {
  const { now } = Date;
  setZone(zone);
  const shown = moments.map(([, present, time]) => {
    Date.now = () => Date.parse(present);
    const part = document.createElement("div");
    part.innerHTML = `<time datetime="${time}">as it came</time>`;
    showTimes(part);
    return part.textContent;
  });
  Date.now = now;
  return shown;
}

async function theZoneOfTheStore(anna) {
  const { page } = anna;
  await page.emulateTimezone("America/Denver");
  await measure(anna, "/settings/store", "the choice of the time zone");
  const first = await page.$eval("select[data-device] optgroup", ({ label, innerText }) => [label, innerText.trim()]);
  assert.deepEqual(first, ["This device", "America/Denver"]);
  for (const zone of ["America/Denver", "Pacific/Auckland"]) {
    await page.select("select[data-device]", zone);
    await submit(anna, "form[action='/settings/store'] .main");
    await says(anna, "Saved.");
    assert.equal(await value(anna, "select[data-device]"), zone);
  }
  await page.goto(`${origin}/orders?status=completed`);
  const [at, shown] = await page.$eval("time[data-exact]", (time) => [time.dateTime, time.textContent]);
  const format = { dateStyle: "medium", timeStyle: "short", timeZone: "Pacific/Auckland" };
  assert.equal(shown, new Intl.DateTimeFormat("en-GB", format).format(new Date(at)));
}

// As if the day had begun while nobody looked at the page.
async function anotherDay(page) {
  await page.goto(`${origin}/`);
  const today = await page.$eval("main", ({ dataset }) => dataset.day);
  await page.evaluate(() => {
    main.dataset.day = "2026-01-01";
    stream.close();
    follow();
  });
  await page.waitForFunction((today) => main.dataset.day === today, {}, today);
}

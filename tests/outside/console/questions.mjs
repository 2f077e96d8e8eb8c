// What the pages ask before they do it, and the buttons for ticked animals. Each page is measured.

import assert from "node:assert/strict";

import { isThere, measure, origin, press, says, submit, text } from "./people.mjs";

export async function questions(anna, ben) {
  await severalAnimals(ben);
  await anna.page.goto(`${origin}/settings/staff`);
  await submit(anna, "form:has([value=disable]) button");
  await measure(anna, undefined, "a question about a member");
}

// The buttons for ticked animals are where the eye is, and Enter in a field presses the button of that field.
async function severalAnimals(ben) {
  const { page } = ben;
  const list = `${origin}/animals?q=Pip&status=available`;
  await page.goto(list);
  const isInView = () => page.$eval("button[value=reserve]", (button) => button.getBoundingClientRect().bottom <= innerHeight);
  assert(!(await isInView()), "the list is too short to test this");
  await press(ben, "input[name=pet]");
  assert(await isInView());
  await measure(ben, undefined, "a ticked animal");
  await page.type("#to", "Dogs");
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  await says(ben, "Saved.");

  await page.goto(list);
  for (const box of (await page.$$("input[name=pet]")).slice(0, 2)) await box.click();
  await submit(ben, "button[value=reserve]");
  assert.equal(await text(ben, "h1"), "Reserve 2 animals?");
  await measure(ben, undefined, "a question about two animals");
  await submit(ben, "main .quiet");
  assert.equal(page.url(), list);
  assert(!(await isThere(ben, ".flash")));
}

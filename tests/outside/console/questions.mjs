// What the pages ask before they do it, and the buttons for ticked animals. Each page is measured.

import assert from "node:assert/strict";

import {
  fill, isThere, measure, origin, person, prepare, press, says, signIn, signOut, submit, text,
} from "./people.mjs";

export async function questions(anna, ben) {
  await severalAnimals(ben);
  await anna.page.goto(`${origin}/settings/staff`);
  await submit(anna, "form:has([value=disable]) button");
  await measure(anna, undefined, "a question about a member");
  await theFormOfAnother();
}

// A form that Ben left open is not sent as Anna's, who has signed in in the same browser.
async function theFormOfAnother() {
  const at = await person();
  await signIn(at, "Ben");
  await at.page.goto(`${origin}/add`);
  await fill(at, "#name", "Ben's");
  await fill(at, "#category", "Dogs");
  const other = { context: at.context, page: await at.context.newPage() };
  await prepare(other.page);
  await signOut(other);
  await signIn(other, "Anna");
  await at.page.bringToFront();
  assert.equal((await submit(at, "form[action='/add'] .main")).status(), 409);
  assert.match(await text(at, "main"), /Ben filled in this form, and you are signed in as Anna/);
  await measure(at, undefined, "the form of another member");
  await submit(at, "main form button");
  await says(at, "Added as animal");
  await at.context.close();
}

// The buttons for ticked animals are where the eye is, and Enter in a field presses the button of that field.
async function severalAnimals(ben) {
  const { page } = ben;
  const list = `${origin}/animals?q=Pip&status=available`;
  await page.goto(list);
  const isInView = () => page.$eval("button[value=cancel]", (button) => button.getBoundingClientRect().bottom <= innerHeight);
  const open = (input) => press(ben, `#selected details:has(${input}) summary`);
  assert(!(await isInView()), "the list is too short to test this");
  await press(ben, "input[name=pet]");
  assert(await isInView());
  await measure(ben, undefined, "a ticked animal");
  await open("#to");
  // The bar leaves room for the list.
  const height = await page.$eval("#selected", (bar) => bar.getBoundingClientRect().height / innerHeight);
  assert(height < 0.45, `the bar has ${height} of the window`);
  await measure(ben, undefined, "the bar for ticked animals");
  await fill(ben, "#to", "Dogs");
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  await says(ben, "Saved.");

  await page.goto(list);
  for (const row of [1, 2]) await press(ben, `tbody tr:nth-child(${row}) input[name=pet]`);
  await open("#until");
  await submit(ben, "button[value=reserve]");
  assert.match(await text(ben, "h1"), /^Reserve 2 animals until the end of \d+\s\w+\s\d{4}\?$/);
  await measure(ben, undefined, "a question about two animals");
  await submit(ben, "main .quiet");
  assert.equal(page.url(), list);
  assert(!(await isThere(ben, ".flash")));
}

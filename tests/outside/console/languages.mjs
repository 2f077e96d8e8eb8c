// The pages of the staff in each language, as narrow as 400 % zoom makes them.

import assert from "node:assert/strict";

import { measure, submit } from "./people.mjs";

const PAGES = [
  "/", "/animals", "/animals?status=pending", "/animals/1", "/animals/1/edit", "/animals/1/photos", "/add", "/orders", "/orders/1",
  "/categories", "/activity", "/account", "/account/second-factor", "/account/passkeys", "/settings/staff", "/settings/keys", "/settings/fields",
  "/settings/webhooks", "/settings/store",
];

export async function languages(at, origin) {
  for (const language of ["de", "fr", "es", ""]) {
    await at.page.goto(`${origin}/account`);
    await at.page.select("#language", language);
    await submit(at, "form[action='/account/language'] button");
    if (!language) return;
    for (const path of PAGES) {
      await measure(at, path, `${path} in ${language}`, [320]);
      assert.match(await at.page.$eval("html", (html) => html.lang), new RegExp(`^${language}`), path);
    }
    // The messages about an empty form.
    await at.page.goto(`${origin}/add`);
    await submit(at, "form[action='/add'] button");
    await measure(at, "", `an empty form in ${language}`, [320]);
    console.log(`Every page of the staff in ${language}: at 320 px, axe-core finds nothing, and nothing scrolls sideways.`);
  }
}

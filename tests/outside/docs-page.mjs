// Opens /docs in Chromium, as a first-time reader would: reads the operations, enters the key once, and
// tries them out. Then goes on to the store area. Measures both pages against WCAG 2.2 AA with axe-core, on
// a desktop and on a phone, light and dark.
//
//   PETSTORE_URL=... PETSTORE_KEY=... node docs-page.mjs CHROMIUM SCREENSHOT
//
// Fails if the page asks another host for anything, if the browser reports an error or a violation of the
// Content-Security-Policy, or if axe-core finds a violation.

import assert from "node:assert/strict";

import axe from "axe-core";
import puppeteer from "puppeteer-core";

const [chromium, screenshot] = process.argv.slice(2);
const { origin } = new URL(process.env.PETSTORE_URL);

const browser = await puppeteer.launch({
  executablePath: chromium,
  // Root may not use the sandbox, and this page is our own.
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
try {
  const page = await browser.newPage();
  await page.setViewport({ width: 1000, height: 1150 });

  const complaints = [];
  const asked = new Set();
  page.on("console", (message) => {
    if (message.type() !== "log") complaints.push(`${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith("data:")) asked.add(new URL(request.url()).origin);
  });
  page.on("requestfailed", (request) => complaints.push(`no response from ${request.url()}`));
  await page.exposeFunction("violated", (directive) => complaints.push(`policy: ${directive}`));
  await page.evaluateOnNewDocument(() => {
    document.addEventListener("securitypolicyviolation", (event) =>
      window.violated(`${event.effectiveDirective} ${event.blockedURI}`),
    );
  });

  // The page's policy blocks foreign scripts, so axe-core is injected before the page loads.
  await page.evaluateOnNewDocument(axe.source);
  await page.goto(`${origin}/docs`);
  await page.waitForSelector(".opblock");
  const operations = await shownOperations();
  assert.deepEqual(operations, ["GET /pets", "POST /pets", "GET /pets/{petId}"]);
  console.log(`The page lists ${operations.join(", ")}.`);

  await enterKey();

  const listed = await tryOut("listPets");
  assert(Array.isArray(listed) && listed.length === 20, JSON.stringify(listed));
  assert.deepEqual(Object.keys(listed[0]), ["id", "name", "categoryId", "status"]);
  console.log(`Trying out listPets shows ${listed.length} animals, ${listed[0].name} first.`);
  await page.$eval("#operations-pets-listPets", (block) => block.scrollIntoView());
  await page.screenshot({ path: screenshot });

  // Optional fields are empty, so the page sends only what the reader entered.
  const added = await tryOut("createPet");
  const again = await addAgain();
  assert(again.id > added.id, "the second animal was not added");
  console.log(`Trying out createPet twice adds two animals: ${added.id} and ${again.id}.`);

  // 2^53 + 1, which JavaScript rounds.
  const large = "9007199254740993";
  await page.locator("#operations-pets-createPet textarea").fill(`{"name": "Exact", "categoryId": ${large}}`);
  const request = page.waitForRequest((request) => request.method() === "POST");
  await page.locator("#operations-pets-createPet .execute").click();
  assert.match((await request).postData(), /"categoryId":\s*9007199254740993\b/);
  await page.waitForFunction((text) => document.querySelector("#operations-pets-createPet .live-responses-table").textContent.includes(text),
    { timeout: 5000 }, `"categoryId": ${large}`);
  console.log("A request and its response have each digit of an int64.");

  const first = await tryOut("getPet", { petId: String(listed[0].id) });
  assert.deepEqual(first, listed[0]);
  console.log("Trying out getPet shows the first of them, with the key that was entered once.");

  await measure("the contract");

  await page.setViewport({ width: 1000, height: 1150 });
  await page.reload();
  await page.locator("nav a:not([aria-current])").click();
  await page.waitForSelector("#operations-animals-listStorePets");
  assert.equal(await page.$eval("nav [aria-current]", (link) => link.textContent), "Store area");
  const ofStaff = await shownOperations();
  assert.equal(ofStaff.length, 49);
  console.log(`A link leads to the store area, which lists ${ofStaff.length} operations.`);
  // One operation of each method is open, because each method has a colour.
  const shown = ["animals-listStorePets", "animals-patchPet", "orders-placeOrder", "categories-putCategory", "categories-deleteCategory"];
  // An operation that opens moves those below it for a while, so a press with the mouse could miss them.
  for (const operation of shown) await page.$eval(`#operations-${operation} .opblock-summary-control`, (button) => button.click());
  await page.waitForFunction(() => document.querySelectorAll(".opblock.is-open .responses-table").length === 5);
  await measure("the store area");

  assert.deepEqual([...asked], [origin]);
  assert.deepEqual(complaints, []);
  console.log("The page asked no other host, and the browser reported nothing.");

  // The operations on the page, each as its method and path.
  async function shownOperations() {
    return page.$$eval(".opblock", (blocks) =>
      blocks.map((block) => {
        const method = block.querySelector(".opblock-summary-method").textContent;
        return `${method} ${block.querySelector("[data-path]").dataset.path}`;
      }),
    );
  }

  async function enterKey() {
    await page.click(".btn.authorize");
    await page.locator(".auth-container input").fill(process.env.PETSTORE_KEY);
    await page.click(".auth-btn-wrapper .authorize");
    await page.locator(".auth-btn-wrapper .btn-done").click();
  }

  // With the key dialog open.
  async function measure(what) {
    await page.click(".btn.authorize");
    await page.waitForSelector(".auth-container");
    for (const width of [1000, 390]) {
      for (const scheme of ["light", "dark"]) {
        await page.setViewport({ width, height: 1150 });
        await page.emulateMediaFeatures([
          { name: "prefers-color-scheme", value: scheme },
          // Without transitions, so no intermediate colour is measured.
          { name: "prefers-reduced-motion", value: "reduce" },
        ]);
        await checkAccessibility(`${what}, ${width} px, ${scheme}`);
      }
    }
  }

  async function checkAccessibility(view) {
    const found = await page.evaluate(async () => {
      const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
      const { violations } = await window.axe.run({ runOnly: tags });
      return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
    });
    assert.deepEqual(found, [], view);
    const [content, window_] = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      window.innerWidth,
    ]);
    assert(content <= window_, `${view}: the page is ${content} px wide`);
    console.log(`${view}: axe-core finds nothing, and the page needs no horizontal scrolling.`);
  }

  // Sends the request of createPet once more, and returns what the page shows of the response.
  async function addAgain() {
    const block = "#operations-pets-createPet";
    const responded = page.waitForResponse((response) => response.request().method() === "POST");
    await page.locator(`${block} .execute`).click();
    return (await responded).json();
  }

  // Opens an operation, fills in its parameters, sends the request, and returns what the page shows
  // of the response.
  async function tryOut(operation, parameters = {}) {
    const block = `#operations-pets-${operation}`;
    await page.click(`${block} .opblock-summary-control`);
    for (const [name, value] of Object.entries(parameters)) {
      await page.locator(`${block} tr[data-param-name="${name}"] input`).fill(value);
    }
    await page.locator(`${block} .execute`).click();
    const answer = await page.waitForSelector(`${block} .live-responses-table .microlight`);
    return JSON.parse(await answer.evaluate((element) => element.textContent));
  }
} finally {
  await browser.close();
}

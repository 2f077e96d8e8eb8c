// Opens /docs in Chromium, as somebody would who sees it for the first time: reads the operations,
// enters the key once, and tries them out.
//
//   PETSTORE_URL=... PETSTORE_KEY=... node docs-page.mjs CHROMIUM SCREENSHOT
//
// Fails if the page asks another host for anything, or if the browser has anything to complain about:
// violations of the Content-Security-Policy above all.

import assert from "node:assert/strict";

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
  page.on("requestfailed", (request) => complaints.push(`no answer from ${request.url()}`));
  await page.exposeFunction("violated", (directive) => complaints.push(`policy: ${directive}`));
  await page.evaluateOnNewDocument(() => {
    document.addEventListener("securitypolicyviolation", (event) =>
      window.violated(`${event.effectiveDirective} ${event.blockedURI}`),
    );
  });

  await page.goto(`${origin}/docs`);
  await page.waitForSelector(".opblock");
  const operations = await page.$$eval(".opblock", (blocks) =>
    blocks.map((block) => {
      const method = block.querySelector(".opblock-summary-method").textContent;
      return `${method} ${block.querySelector("[data-path]").dataset.path}`;
    }),
  );
  assert.deepEqual(operations, ["GET /pets", "POST /pets", "GET /pets/{petId}"]);
  console.log(`The page lists ${operations.join(", ")}.`);

  await page.click(".btn.authorize");
  await page.locator(".auth-container input").fill(process.env.PETSTORE_KEY);
  await page.click(".auth-btn-wrapper .authorize");
  await page.locator(".auth-btn-wrapper .btn-done").click();

  const listed = await tryOut("listPets");
  assert(Array.isArray(listed) && listed.length === 20, JSON.stringify(listed));
  assert.deepEqual(Object.keys(listed[0]), ["id", "name", "categoryId", "status"]);
  console.log(`Trying out listPets shows ${listed.length} animals, ${listed[0].name} first.`);
  await page.$eval("#operations-pets-listPets", (block) => block.scrollIntoView());
  await page.screenshot({ path: screenshot });

  const first = await tryOut("getPet", { petId: String(listed[0].id) });
  assert.deepEqual(first, listed[0]);
  console.log("Trying out getPet shows the first of them, with the key that was entered once.");

  assert.deepEqual([...asked], [origin]);
  assert.deepEqual(complaints, []);
  console.log("No other host was asked, and the browser had nothing to complain about.");

  // Opens an operation, fills in its parameters, sends the request, and returns what the page shows
  // of the answer.
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

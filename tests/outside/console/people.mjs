// Browsers in which people use the console, by mouse or by keyboard; and what every page is measured by: WCAG 2.2 AA
// with axe-core, and horizontal scrolling at 400 % zoom. With all looks, on a phone and in dark colours, too.

import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";

import axe from "axe-core";
import puppeteer from "puppeteer-core";

export { axe };
export const [chromium, screenshots] = process.argv.slice(2);
export const { origin } = new URL(process.env.CONSOLE_URL);
const hasAllLooks = process.env.CONSOLE_LOOKS === "all";
export const PASSWORD = "four quiet otters swim";

// What a browser reported: errors, violations of the policy, and requests to other hosts.
export const complaints = [];

export const browser = await puppeteer.launch({
  executablePath: chromium,
  // Root may not use the sandbox, and these pages are our own.
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en-GB"],
});

// A browser of its own, in which nobody is signed in, for the console at this address.
export async function person(site = origin) {
  const context = await browser.createBrowserContext();
  const at = { context, page: await context.newPage(), presses: 0, fields: 0, effort: [] };
  await prepare(at.page, site);
  return at;
}

export async function prepare(page, site = origin) {
  await page.setViewport({ width: 1280, height: 900 });
  page.on("console", (message) => {
    // The browser also reports each page whose status says what is wrong with a form.
    const isStatus = /^(Failed to load resource|EventSource's response has a MIME type)/.test(message.text());
    if (["error", "warn"].includes(message.type()) && !isStatus) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    if (dialog.type() !== "beforeunload") return complaints.push(`a dialog: ${dialog.message()}`);
    // Somebody who is asked leaves, unless a test says that they stay.
    page.asked = dialog.type();
    return page.stays ? dialog.dismiss() : dialog.accept();
  });
  page.on("request", (request) => {
    // The browser draws its own controls with data URLs.
    if (!request.url().startsWith("data:") && new URL(request.url()).origin !== site) complaints.push(`a request to ${request.url()}`);
  });
  await page.exposeFunction("violated", (directive) => complaints.push(`policy: ${directive}`));
  await page.evaluateOnNewDocument(() => {
    document.addEventListener("securitypolicyviolation", (event) =>
      window.violated(`${event.effectiveDirective} ${event.blockedURI}`),
    );
  });
  // The policy of the pages blocks foreign scripts, so axe-core is injected before a page loads.
  await page.evaluateOnNewDocument(axe.source);
}

// --- Hands: the same acts by mouse and by keyboard ---------------------------

export async function mouse(at, act, selector, text) {
  at.presses += act === "fill" ? 0 : 1;
  at.fields += act === "fill" ? 1 : 0;
  if (act === "press") return click(at, selector);
  if (act === "choose") return at.page.select(selector, text);
  // Now it has the focus, so the page does not replace it.
  await click(at, selector, { count: 3 });
  await at.page.keyboard.press("Backspace");
  await at.page.keyboard.type(text);
}

// Opens the outermost part around an element that is folded away, as a person does. A page that follows the store can
// have folded it again.
async function unfoldAround(element) {
  const summary = await element.evaluateHandle((target) => {
    const isClosed = (part) => !part.open && part.querySelector(":scope > summary") !== target;
    let outermost = null;
    for (let part = target.parentElement; part; part = part.parentElement) {
      if (part.localName === "details" && isClosed(part)) outermost = part.querySelector(":scope > summary");
    }
    return outermost;
  });
  await summary.asElement()?.click();
}

// Clicks what is there now. A page that follows the store can replace or move an element after it is found and before
// it is clicked, also because of the change that led to the page. A person clicks its successor without noticing.
async function click(at, selector, options) {
  for (const until = Date.now() + 30_000; ; ) {
    assert(Date.now() < until, "a click does not arrive there, perhaps because it is folded away");
    const element = await at.page.waitForSelector(selector);
    try {
      await unfoldAround(element);
      // Without script, no page changes by itself, and no listener is called.
      if (!at.page.isJavaScriptEnabled()) return await element.click(options);
      // A person scrolls until nothing covers it, such as the actions for what is ticked.
      await element.evaluate((target) => {
        const { x, y, width, height } = target.getBoundingClientRect();
        const seen = document.elementFromPoint(x + width / 2, y + height / 2);
        if (!target.contains(seen) && !seen?.contains(target)) target.scrollIntoView({ block: "center" });
      });
      await element.evaluate((target) => target.addEventListener("click", () => { target.isHit = true; }, { capture: true }));
      await element.click(options);
      // There is no answer after the page was left, which the click has done.
      if (await element.evaluate(({ isHit }) => isHit === true).catch(() => true)) return;
    } catch (error) {
      const isReplaced = !(await element.evaluate(({ isConnected }) => isConnected).catch(() => false));
      if (!isReplaced) throw error;
    }
  }
}

// Takes the pointer from what a page replaces, which would wait for it.
export function away(at) {
  return at.page.mouse.move(0, 0);
}

export async function keyboard(at, act, selector, text) {
  const { page } = at;
  await page.waitForSelector(selector);
  const isThere = () => page.$eval(selector, (element) => element === document.activeElement);
  for (let steps = 0; !(await isThere()); steps += 1) {
    assert(steps < 200, `${selector} cannot be reached with the Tab key`);
    await page.keyboard.press("Tab");
    const problem = await page.evaluate(() => {
      const focus = document.activeElement;
      if (focus === document.body) return undefined;
      const box = focus.getBoundingClientRect();
      const isShown = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
      const style = getComputedStyle(focus);
      if (!isShown) return `the focus is outside of the window: ${focus.outerHTML}`;
      const isVisible = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
      return isVisible ? undefined : `the focus is not visible: ${focus.outerHTML}`;
    });
    assert.equal(problem, undefined);
  }
  if (act === "press") {
    const isBox = await page.$eval(selector, (element) => ["checkbox", "radio"].includes(element.type));
    return page.keyboard.press(isBox ? "Space" : "Enter");
  }
  if (act === "choose") {
    // Not by the letters of its label: those that come more than a second apart are not one word.
    const down = await page.$eval(selector, ({ options }, text) => [...options].findIndex(({ value }) => value === text), text);
    await page.keyboard.press("Home");
    for (let steps = 0; steps < down; steps += 1) await page.keyboard.press("ArrowDown");
    return assert.equal(await value(at, selector), text);
  }
  await page.keyboard.down("Control");
  await page.keyboard.press("a");
  await page.keyboard.up("Control");
  await page.keyboard.press("Backspace");
  return page.keyboard.type(text);
}

// Opens what reserves or sells an animal, if the element is in there and it is closed, as a person does.
async function open(at, selector, hand) {
  const isClosed = await at.page.$eval(selector, (element) => {
    const panel = element.closest(".acts > details");
    const summary = panel?.querySelector(":scope > summary");
    if (!panel || panel.open || element === summary) return false;
    summary.id = "opens";
    return true;
  }).catch(() => false);
  if (isClosed) await hand(at, "press", "#opens");
}

export async function fill(at, selector, text, hand = mouse) {
  await open(at, selector, hand);
  return hand(at, "fill", selector, text);
}

export function choose(at, selector, text, hand = mouse) {
  return hand(at, "choose", selector, text);
}

export async function press(at, selector, hand = mouse) {
  await open(at, selector, hand);
  return hand(at, "press", selector);
}

// Presses a button or a link that leads to another page, and returns the response. Each document has another origin of
// its times.
export async function submit(at, selector, hand = mouse) {
  const { page } = at;
  let response;
  const note = (received) => {
    if (received.request().isNavigationRequest() && received.frame() === page.mainFrame()) response = received;
  };
  const shown = () => page.evaluate(() => [performance.timeOrigin, document.readyState]).catch(() => []);
  const [before] = await shown();
  page.on("response", note);
  await press(at, selector, hand).catch((error) => assert.fail(`${selector}: ${error.message}`));
  for (const until = Date.now() + 30_000; ; await setTimeout(20)) {
    const [now, state] = await shown();
    if (now && now !== before && state === "complete") break;
    if (Date.now() < until) continue;
    assert.fail(`${selector} led nowhere. ${page.url()} has\n${await page.evaluate(() => document.body.innerText)}`);
  }
  page.off("response", note);
  return response;
}

// Presses a button, says yes to the question about it, and returns the response.
export async function confirm(at, selector) {
  await submit(at, selector);
  assert(await isThere(at, "[name=sure]"), `${selector} asked nothing`);
  return submit(at, "main .main");
}

// Notes what a task took since the last one: presses of buttons, links and boxes, and fields.
export function done(at, task) {
  at.effort.push(`${task} ${at.presses} + ${at.fields}`);
  Object.assign(at, { presses: 0, fields: 0 });
}

export function value(at, selector) {
  return at.page.$eval(selector, (element) => element.value);
}

export function text(at, selector) {
  return at.page.$eval(selector, (element) => element.innerText);
}

export async function says(at, expected) {
  const said = await text(at, "main .flash, main .problem");
  assert(said.includes(expected), `the page says “${said}” instead of “${expected}”`);
}

export async function isThere(at, selector) {
  return (await at.page.$(selector)) !== null;
}

// --- What everybody does -----------------------------------------------------

export async function choosePassword(at, link, name) {
  await at.page.goto(link.replace(/^https?:\/\/[^/]*/, origin));
  if (name === "Anna") await measure(at, undefined, "choosing a password");
  await fill(at, "#new", PASSWORD);
  await fill(at, "#again", PASSWORD);
  await submit(at, "main .main");
  assert.equal(await text(at, ".who summary"), name);
}

export async function signIn(at, name, hand = mouse, site = origin) {
  await at.page.goto(`${site}/`);
  assert(at.page.url().includes("/sign-in"));
  await fill(at, "#name", name, hand);
  await fill(at, "#password", PASSWORD, hand);
  await submit(at, "main .main", hand);
  assert.equal(await text(at, "h1"), "Today");
}

export async function signOut(at) {
  await at.page.goto(`${origin}/account`);
  await press(at, ".who summary");
  await submit(at, ".who button");
  assert(at.page.url().endsWith("/sign-in"));
}

// Opens everything that is folded away, until the page follows a change. To use it, press its summary.
// The menu of the member stays closed, because it lies above other things.
export function unfold(at) {
  return at.page.$$eval("details:not(.who)", (all) => all.forEach((details) => { details.open = true; }));
}

// --- What is measured --------------------------------------------------------

// Looks at a page, or at the present one. Among several widths, those of tablets and 320 px only show whether the page
// scrolls sideways, and whether a button of a table is outside of it.
export async function measure(at, path, what, widths = [1280, 1024, 768, 360, 320]) {
  const { page } = at;
  if (path) {
    let weight = 0;
    const count = async (response) => {
      const isStream = new URL(response.url()).pathname === "/live";
      if (!isStream) weight += (await response.buffer().catch(() => "")).length;
    };
    page.on("response", count);
    await page.goto(`${origin}${path}`);
    page.off("response", count);
    const isLongName = what === "a hostile name";
    assert(weight < 60_000 || isLongName, `${what}: ${weight} bytes`);
  }
  for (const width of widths) {
    const scrollsOnly = widths.length > 1 && ([1024, 768, 320].includes(width) || width < 1280 && !hasAllLooks);
    for (const scheme of scrollsOnly || !hasAllLooks ? ["light"] : ["light", "dark"]) {
      // 400 % zoom of a window of 1280 px is a width of 320 px.
      await page.setViewport({ width, height: 900 });
      await page.emulateMediaFeatures([
        { name: "prefers-color-scheme", value: scheme },
        { name: "prefers-reduced-motion", value: "reduce" },
      ]);
      await unfold(at);
      const content = await page.evaluate(() => document.documentElement.scrollWidth);
      assert(content <= width, `${what}, ${width} px: the page is ${content} px wide`);
      const hidden = await page.evaluate(() => [...document.querySelectorAll("td button, td.price")]
        .filter((of) => !of.closest(".scrolls")
          && of.getBoundingClientRect().right > (of.closest(".table") ?? of.closest("table")).getBoundingClientRect().right)
        .map(({ textContent }) => textContent));
      assert.deepEqual(hidden, [], `${what}, ${width} px, outside of its table: ${hidden}`);
      if (scrollsOnly) continue;
      const found = await page.evaluate(async () => {
        const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
        const { violations } = await window.axe.run({ runOnly: tags });
        return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`));
      });
      assert.deepEqual(found, [], `${what}, ${width} px, ${scheme}`);
    }
  }
  await page.setViewport({ width: 1280, height: 900 });
}

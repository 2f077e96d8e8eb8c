// What a browser loads of photos with as much detail as those of phones, in the list and on the page of an animal that
// has 20, on a phone and on computers. Nothing scrolls, so what is counted is the first screen
// and what the browser fetches ahead. Then the viewer of photos: it opens, leads on and closes, and axe-core finds nothing.

import assert from "node:assert/strict";

import axe from "axe-core";

// More pixels than the large size: 4:3 as most phones take them, upright, 16:9, and very tall.
const SHAPES = [[2400, 1800], [2400, 1800], [1800, 2400], [2400, 1350], [1350, 2400]];

// The file that a card with a photo of 4:3, the first photo and a thumbnail need, and how many bytes a list of 11 animals and
// a page with 20 photos may load.
const VIEWS = [
  { width: 390, height: 844, deviceScaleFactor: 2, isMobile: true, card: "card", first: "medium", thumbnail: "card", list: 450_000, animal: 500_000 },
  { width: 1440, height: 900, deviceScaleFactor: 2, card: "medium", first: "large", thumbnail: "card", list: 1_300_000, animal: 1_000_000 },
  { width: 1280, height: 800, deviceScaleFactor: 1, card: "card", first: "card", thumbnail: "small", list: 450_000, animal: 500_000 },
];

// A JPEG with an animal in front of noise of every scale, as far as natural pictures have it.
async function photograph(page, width, height, seed) {
  const base64 = await page.evaluate(async (width, height, seed) => {
    let state = seed;
    const random = () => (state = (state * 1664525 + 1013904223) >>> 0) / 2 ** 32;
    const canvas = new OffscreenCanvas(width, height);
    const to = canvas.getContext("2d");
    to.fillStyle = `hsl(${90 * seed} 30% 55%)`;
    to.fillRect(0, 0, width, height);
    const [x, y, r] = [width / 2, height * 0.12, Math.min(width, height) * 0.2];
    const oval = (colour, ...of) => {
      to.fillStyle = colour;
      to.beginPath();
      to.ellipse(...of, 0, 0, 7);
      to.fill();
    };
    oval("#a5713f", x, y + 3 * r, 1.5 * r, 2.1 * r);
    oval("#b57f4b", x, y + r, r, r);
    for (const side of [-1, 1]) {
      oval("#a5713f", x + side * 0.75 * r, y + 0.2 * r, 0.25 * r, 0.6 * r);
      oval("#111", x + side * 0.4 * r, y + 0.8 * r, 0.12 * r, 0.16 * r);
    }
    to.globalCompositeOperation = "overlay";
    to.imageSmoothingQuality = "high";
    for (let across = 4; across <= 2048; across *= 2) {
      const noise = new ImageData(across, Math.round((across * height) / width));
      noise.data.forEach((_, at) => { noise.data[at] = at % 4 === 3 ? 255 : random() * 255; });
      const small = new OffscreenCanvas(noise.width, noise.height);
      small.getContext("2d").putImageData(noise, 0, 0);
      to.globalAlpha = 0.2 * (across / 4) ** -0.3;
      to.drawImage(small, 0, 0, width, height);
    }
    const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: "image/jpeg", quality: 0.92 })).arrayBuffer());
    let text = "";
    for (let at = 0; at < bytes.length; at += 32768) text += String.fromCharCode(...bytes.subarray(at, at + 32768));
    return btoa(text);
  }, width, height, seed);
  return Buffer.from(base64, "base64");
}

// `add` adds an animal, and `addPhoto` a photo to it. Leaves screenshots in the folder.
export async function checkPictures(browser, origin, { add, addPhoto, folder }) {
  const studio = await browser.newPage();
  const photos = [];
  for (const [at, [width, height]] of SHAPES.entries()) photos.push(await photograph(studio, width, height, at + 1));
  await studio.close();
  const many = await add("Pixel");
  for (let at = 0; at < 20; at += 1) await addPhoto(many.id, photos[at % SHAPES.length]);
  const upright = await add("Giraffe");
  await addPhoto(upright.id, photos[2]);
  for (let at = 0; at < 9; at += 1) await addPhoto((await add(`Model ${at}`)).id, photos[at % SHAPES.length]);

  for (const { card, first, thumbnail, list, animal, ...viewport } of VIEWS) {
    const here = `${viewport.width} px, ${viewport.deviceScaleFactor}`;
    const load = async (path, most) => {
      const context = await browser.createBrowserContext();
      const page = await context.newPage();
      await page.setViewport(viewport);
      await page.goto(`${origin}${path}`, { waitUntil: "networkidle0" });
      const [files, bytes] = await page.evaluate(() => {
        // Of the animal itself, and not of the others at the end of its page.
        const images = [...document.querySelectorAll(".gallery img, main > .cards img")];
        const own = new Set(images.map(({ currentSrc }) => currentSrc));
        const loaded = performance.getEntriesByType("resource").filter(({ name }) => own.has(name));
        const shown = images.map((image) => ({
          size: image.currentSrc.match(/-(\w+)\.jpg/)?.[1],
          ratio: image.getAttribute("width") / image.getAttribute("height"),
          fit: getComputedStyle(image).objectFit,
        }));
        return [shown, loaded.reduce((sum, { transferSize }) => sum + transferSize, 0)];
      });
      console.log(`${path} at ${here}: ${Math.round(bytes / 1000)} KB of photos, ${files.map(({ size }) => size?.[0] ?? "-").join("")}`);
      assert(bytes <= most, `${path} at ${here}: ${bytes} bytes`);
      await page.screenshot({ path: `${folder}/pictures-${path.replaceAll("/", "")}-${viewport.width}.webp`, type: "webp", quality: 70 });
      await context.close();
      return files.filter(({ size }) => size);
    };
    const is43 = ({ ratio }) => Math.abs(ratio - 4 / 3) < 0.01;
    const cards = (await load("/", list)).filter(is43);
    assert(cards.length >= 2, here);
    assert.deepEqual([...new Set(cards.map(({ size }) => size))], [card], here);
    const [main, ...others] = await load(`/animals/${many.id}`, animal);
    assert.equal(main.size, first, here);
    assert.deepEqual([...new Set(others.filter(is43).map(({ size }) => size))], [thumbnail], here);
    const [whole] = await load(`/animals/${upright.id}`, 500_000);
    assert.equal(whole.fit, "contain", here);
  }

  for (const [width, height] of [[1280, 800], [390, 844], [320, 256]]) {
    // One that has loaded no photo before.
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.evaluateOnNewDocument(axe.source);
    const isOpen = (number) => page.$eval(`#photo-${number}`, (of) => getComputedStyle(of).display !== "none");
    await page.setViewport({ width, height });
    await page.goto(`${origin}/animals/${many.id}`, { waitUntil: "networkidle0" });
    const loaded = await page.$$eval(".viewer img", (all) => all.filter(({ complete, naturalWidth }) => complete && naturalWidth > 0).length);
    assert.equal(loaded, 0, `${width} px: photos of the closed viewer are loaded`);
    await page.click(".gallery li:nth-child(2) a");
    await page.waitForFunction(() => document.querySelector("#photo-2 img").naturalWidth > 0);
    await page.screenshot({ path: `${folder}/viewer-${width}.webp`, type: "webp", quality: 70 });
    const found = await page.evaluate(async () => (await window.axe.run()).violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]));
    assert.deepEqual(found, [], `the viewer at ${width} px`);
    await page.click("#photo-2 p a:last-child");
    assert.deepEqual([await isOpen(2), await isOpen(3)], [false, true]);
    await page.click("#photo-3 .close");
    assert.equal(await isOpen(3), false);
    await context.close();
  }
}

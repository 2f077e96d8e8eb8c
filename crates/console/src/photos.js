// Photos are sent as soon as they are chosen, each by itself, so that one that fails keeps no other back. Nothing else
// on the page changes meanwhile. Those of a new animal wait for it in its form.
"use strict";
{
  // The service keeps no more pixels than this on a side, so more are not sent.
  const SIDE = 1920;
  const AT_ONCE = 3;
  // In milliseconds without progress.
  const STALLED = 60000;

  const box = () => document.getElementById("uploads");
  const text = (name, ...values) => values.reduce((filled, value) => filled.replace("{}", value),
    box().querySelector(`[data-text=${name}]`).textContent);
  const say = (...parts) => { document.getElementById("sent").textContent = parts.filter(Boolean).join(" "); };
  const parse = (html) => new DOMParser().parseFromString(html, "text/html");
  // Where photos are sent: to the animal of this page, or to wait for the one that is being added.
  const upload = () => document.getElementById("upload");
  const target = () => upload()?.getAttribute("action") ?? box().dataset.target;

  // The photos that the service does not have: they wait, are being sent, or failed.
  const unsent = new Set();
  const are = (...states) => [...unsent].filter(({ state }) => states.includes(state));
  const isBusy = () => are("waiting", "sending", "answer").length > 0;
  let added = 0, notice = "", chosen = 0, held;
  addEventListener("beforeunload", (event) => { if (unsent.size) event.preventDefault(); });

  function show(photo, state, why = "") {
    const [, said, bar, ...buttons] = photo.row.children;
    photo.state = state;
    [said.textContent, said.className] = [`${text(state)} ${why}`, state === "failed" ? "error" : "muted"];
    bar.hidden = state !== "sending";
    for (const button of buttons) button.hidden = state !== "failed";
    // What is wrong with the file itself stays wrong.
    if (photo.isFinal) buttons[0].hidden = true;
  }

  function rowOf(photo) {
    const row = document.createElement("li");
    const [name, said, bar] = ["bdi", "span", "progress"].map((tag) => document.createElement(tag));
    const buttons = [["again", () => show(photo, "waiting")], ["drop", () => { unsent.delete(photo); row.remove(); }]];
    name.textContent = bar.ariaLabel = photo.file.name;
    row.append(name, said, bar, ...buttons.map(([label, act]) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: text(label) });
      button.ariaLabel = `${button.textContent}: ${photo.file.name}`;
      button.addEventListener("click", () => { act(); focusMessage(); sendNext(); });
      return button;
    }));
    return row;
  }

  // Browsers that hide from strangers what they run on give back other pixels than those that were drawn. The noise of
  // some is smaller than this for each colour, and nobody sees it.
  const NOISE = 8;
  // Squares of these colours are drawn, and read back as pixels and as a file.
  const COLOURS = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [40, 120, 200]];
  const SQUARE = 8;

  const isRight = (pen) => {
    const { data } = pen.getImageData(0, 0, SQUARE * COLOURS.length, SQUARE);
    const isNear = (value, at) => {
      const colour = COLOURS[Math.floor((at / 4) % (SQUARE * COLOURS.length) / SQUARE)];
      return Math.abs(value - (at % 4 === 3 ? 255 : colour[at % 4])) <= NOISE;
    };
    return data.length === SQUARE * SQUARE * COLOURS.length * 4 && data.every(isNear);
  };

  async function checkCanvas() {
    const [canvas, copy] = [0, 1].map(() => Object.assign(document.createElement("canvas"),
      { width: SQUARE * COLOURS.length, height: SQUARE }));
    const [pen, other] = [canvas, copy].map((of) => of.getContext("2d"));
    for (const [at, colour] of COLOURS.entries()) {
      pen.fillStyle = `rgb(${colour})`;
      pen.fillRect(at * SQUARE, 0, SQUARE, SQUARE);
    }
    if (!isRight(pen)) return false;
    const file = await new Promise((done) => { canvas.toBlob(done, "image/png"); });
    other.drawImage(await createImageBitmap(file), 0, 0);
    return isRight(other);
  }

  // Whether a canvas gives back what was drawn on it.
  let checked;
  const canShrink = () => checked ??= checkCanvas().catch(() => false);

  // One after the other, because each needs much memory until it is small.
  let shrinking = Promise.resolve();
  function shrink(file) {
    shrinking = shrinking.then(async () => {
      const picture = await createImageBitmap(file, { imageOrientation: "from-image" }).catch(() => {});
      const scale = picture ? SIDE / Math.max(picture.width, picture.height) : 1;
      // The service says what is wrong with a file that is no picture for this browser.
      if (scale >= 1 || !(await canShrink())) return file;
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [picture.width, picture.height].map((side) => Math.max(1, Math.round(side * scale)));
      const pen = canvas.getContext("2d");
      [pen.fillStyle, pen.imageSmoothingQuality] = ["#fff", "high"];
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
      picture.close();
      const small = await new Promise((done) => { canvas.toBlob(done, "image/jpeg", 0.9); });
      return small?.size < file.size ? small : file;
    }).catch(() => file);
    return shrinking;
  }

  // Whether both have the same bytes.
  async function areSame(one, other) {
    if (one.size !== other.size) return false;
    const [left, right] = await Promise.all([one, other].map(async (file) => new Uint8Array(await file.arrayBuffer())));
    return left.every((byte, at) => byte === right[at]);
  }

  document.addEventListener("change", async ({ target: input }) => {
    if (input.id !== "pictures") return;
    const files = [...input.files];
    // So that the same file can be chosen again. Then it is another photo.
    input.value = "";
    if (!unsent.size) [added, notice] = [0, ""];
    const room = Math.max(0, box().dataset.most - document.querySelectorAll(".photos > li").length - unsent.size);
    const left = files.splice(room);
    if (left.length) notice = text("fit", left.length, left.map(({ name }) => name).join(", "));
    say(notice);
    const [, owner] = document.querySelector("main [name=_key]").value.match(/\.(\d+)-/);
    for (const file of files) {
      // With it, the service knows a photo that is sent again, because its answer was lost.
      const digits = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0"));
      const photo = { file, key: `${digits.join("")}.${owner}-photo`, content: shrink(file), place: (chosen += 1) };
      photo.row = rowOf(photo);
      unsent.add(photo);
      box().querySelector("ul").append(photo.row);
      show(photo, "waiting");
    }
    sendNext();
    for (const [at, file] of files.entries()) {
      for (const earlier of files.slice(0, at)) {
        if (!(await areSame(file, earlier).catch(() => false))) continue;
        notice = `${notice} ${file.name}: ${text("same", earlier.name)}`;
        break;
      }
    }
    if (isBusy()) say(notice);
    else finish();
  });

  // An animal gets its photos in the order in which they arrive, so they are sent one after the other, unless one must
  // be sent again.
  function sendNext() {
    const busy = are("sending", "answer").filter(({ isLate }) => !isLate).length;
    for (const photo of are("waiting").slice(0, Math.max(0, (upload() ? 1 : AT_ONCE) - busy))) send(photo);
    if (!isBusy()) finish();
  }

  async function send(photo) {
    show(photo, "sending");
    const why = await post(photo, await photo.content);
    if (why !== undefined) {
      show(photo, "failed", why);
    } else {
      unsent.delete(photo);
      photo.row.remove();
      added += 1;
    }
    sendNext();
  }

  // Sends a photo, several times if the connection breaks. Returns why it is not added.
  async function post(photo, picture, attempt = 1) {
    const content = new FormData();
    content.append("_key", photo.key);
    content.append("pictures", picture, photo.file.name);
    const request = await new Promise((done) => {
      const request = new XMLHttpRequest();
      let timer;
      const wait = () => { clearTimeout(timer); timer = setTimeout(() => request.abort(), STALLED); };
      request.upload.onprogress = ({ loaded, total }) => {
        wait();
        Object.assign(photo.row.querySelector("progress"), { max: total, value: loaded });
        if (loaded === total) show(photo, "answer");
      };
      request.onloadend = () => { clearTimeout(timer); done(request); };
      request.open("POST", target());
      request.setRequestHeader("X-Petstore-Send", "1");
      wait();
      request.send(content);
    });
    const { status, responseText } = request;
    photo.isLost = status === 0;
    if (status === 0 && await isSignedOut()) return text("out");
    if (attempt < 5 && status === 0 || attempt < 3 && status >= 502) {
      show(photo, "answer");
      photo.isLate = true;
      sendNext();
      await new Promise((done) => { setTimeout(done, 2000 * attempt); });
      show(photo, "sending");
      return post(photo, picture, attempt + 1);
    }
    const page = parse(responseText);
    if (status === 200 && new URL(request.responseURL).pathname === target()) return void absorb(page, photo);
    photo.isFinal = page.querySelector("[data-final]") !== null;
    if (status === 413) return text("large");
    return reason(page);
  }

  // The service can refuse a picture before it has read it, and then browsers say only that it failed.
  const isSignedOut = () => fetch("/account", { method: "HEAD", headers: { "X-Petstore-Live": "1" } })
    .then(({ redirected, url }) => redirected && new URL(url).pathname === "/sign-in", () => false);

  // Why a request failed, from the page that the service has for it.
  function reason(page) {
    if (page.querySelector("form[action='/sign-in']")) return text("out");
    const wrong = page.querySelector(".problem li span") ?? page.querySelector(".problem");
    if (wrong) return wrong.textContent;
    const [title, failed] = ["h1", "[data-failed]"].map((part) => page.querySelector(part)?.textContent);
    return [title, failed].filter(Boolean).join(": ") || text("lost");
  }

  // Takes photos that are new from the page with them, and all that follows from these alone. What somebody types into
  // other inputs stays.
  let newest = 0;
  function absorb(page, { place }) {
    const form = document.getElementById("waiting");
    if (form) {
      edited.add(form.closest("form"));
      // In the order in which they were chosen: the first one becomes the main photo.
      const later = [...form.children].find(({ dataset }) => dataset.place > place) ?? null;
      for (const shown of page.querySelectorAll(".photos > li")) form.insertBefore(shown, later).dataset.place = place;
      return;
    }
    const at = Number(page.querySelector("main").dataset.after);
    const [shown, next] = [document, page].map((of) => of.getElementById("shown"));
    if (!next || at < newest) return;
    newest = at;
    showTimes(page);
    const rest = (of) => {
      const copy = of.getElementById("now").cloneNode(true);
      for (const part of copy.querySelectorAll("[data-kept], #shown")) part.remove();
      return copy.textContent;
    };
    const isOnlyOurs = rest(document) === rest(page) && [...shown.querySelectorAll("input[name^=alt]")]
      .every(({ id, defaultValue }) => page.getElementById(id)?.defaultValue === defaultValue);
    for (const photo of next.querySelectorAll(".photos > li")) {
      const old = shown.querySelector(`[data-photo="${photo.dataset.photo}"]`);
      const [has, gets] = [old, photo].map((of) => of?.querySelector(".buttons"));
      if (!shown.querySelector(".photos")) shown.replaceChildren(...next.cloneNode(true).childNodes);
      else if (!old) shown.querySelector(".photos").append(photo.cloneNode(true));
      else if (has && has.innerHTML !== gets.innerHTML) has.innerHTML = gets.innerHTML;
    }
    // What an input showed before somebody touched it.
    for (const was of next.querySelectorAll("[name^=was-]")) {
      if (!shown.querySelector(`[name="${was.name}"]`)) shown.querySelector("form").append(was.cloneNode());
    }
    const full = next.querySelector(":scope > p");
    if (full) shown.append(full);
    upload().hidden = full !== null;
    if (!isOnlyOurs) return;
    for (const { value, form } of page.querySelectorAll("#now input[name=version]")) {
      const own = document.querySelectorAll(`form[action="${form.getAttribute("action")}"] [name=version]`);
      for (const field of own) field.value = value;
    }
  }

  function focusMessage() {
    document.getElementById("sent").focus({ preventScroll: true });
  }

  // All are sent, or failed.
  function finish() {
    const [failed, form] = [unsent.size, held];
    held = undefined;
    say(added && (added === 1 ? text("one") : text("many", added)), failed && text("unsent", failed), notice);
    const focus = document.activeElement;
    if (focus === document.body || focus.closest("#upload, #uploads, #done")) focusMessage();
    if (!failed) form?.[0].requestSubmit(form[1]);
  }
  addEventListener("online", () => {
    for (const photo of are("failed")) if (photo.isLost) show(photo, "waiting");
    if (unsent.size) sendNext();
  });

  // What leaves the page waits for the photos, or, after one has failed, asks.
  addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (form.id !== "upload" && (form.method !== "post" || !isBusy())) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (form.id === "upload") return;
    edited.add(form);
    held ??= [form, submitter];
    say(text("wait"));
  }, { capture: true });
}

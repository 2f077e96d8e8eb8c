// Additions to pages that work without them: times in the zone of the store or of the reader, search while typing, and new
// content when something changed. It never touches what somebody uses. What photos need is in photos.js.
"use strict";

// Units, and their lengths in seconds.
const units = [["day", 86400], ["hour", 3600], ["minute", 60]];
// In the language of the page, whatever that of the browser is.
const { lang } = document.documentElement;
const relative = new Intl.RelativeTimeFormat(lang, { numeric: "always" });
const inDays = new Intl.RelativeTimeFormat(lang, { numeric: "auto" });
// The zone of the store, or else that of the reader. Without a zone that the browser knows, times stay as they came.
let zone, exact, isoDay;
function setZone(name) {
  if (exact && name === zone) return;
  [zone, exact] = [name, undefined];
  try {
    isoDay = new Intl.DateTimeFormat("sv", { dateStyle: "short", timeZone: zone });
    exact = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short", timeZone: zone });
  } catch { /* An old browser, or a new zone. */ }
}
setZone(document.documentElement.dataset.zone);
// The number of a day in the calendar of the zone. A date as in ISO 8601 is read in UTC, whose days have equal lengths.
const dayOf = (at) => Date.parse(isoDay.format(at)) / 86400000;
const edited = new WeakSet();
const who = () => document.querySelector(".who summary")?.textContent;
function showTimes(root) {
  if (!exact) return;
  for (const time of root.querySelectorAll("time")) {
    const at = new Date(time.dateTime);
    const isOver = time.dataset.now && !time.dataset.soon;
    const seconds = Math.min((at - Date.now()) / 1000, isOver ? 0 : Infinity);
    // A day has 25 hours when the clocks go back.
    const isToday = dayOf(at) === dayOf(Date.now());
    const isInUnit = ([name, length]) => Math.abs(seconds) >= length && !(name === "day" && isToday);
    const [unit, length] = units.find(isInUnit) ?? [];
    time.title = exact.format(at);
    if (time.dataset.exact !== undefined || Math.abs(seconds) >= 7 * 86400) {
      time.textContent = exact.format(at);
    } else if (unit === "day") {
      time.textContent = inDays.format(dayOf(at) - dayOf(Date.now()), unit);
    } else {
      time.textContent = unit ? relative.format(Math.trunc(seconds / length), unit)
        : seconds <= 0 ? time.dataset.now : time.dataset.soon;
    }
  }
}

const news = document.getElementById("news");
const [said, reload, show] = news?.children ?? [];
// Says that this page is not what the store has now: "changed", "lost", "out", or nothing. Or offers to "show" so many
// changes. Away from the pointer, and over the page, because nothing may move below a hand.
function tell(what, count = 0) {
  const offer = (news?.dataset[count === 1 ? "one" : "many"] ?? "").replace("{}", count);
  if (!news || ((news.dataset.shown ?? "") === what && (!count || show.textContent === offer))) return;
  news.dataset.shown = what;
  [news.hidden, show.hidden, reload.hidden] = [!what, what !== "show", what === "show"];
  [said.textContent, show.textContent] = [news.dataset[what] ?? "", count ? offer : ""];
  news.classList.toggle("above", pointerY > innerHeight - 150);
}

// Where a hand is: a pointer over a part that is replaced, or a key that is down, or any touch, move or key in the last
// two seconds. What it is about to press stays where it is, and does what it said when it was shown.
const live = document.querySelector("[data-live]");
const main = document.querySelector("main");
const hasMouse = matchMedia("(hover: hover)");
let handAt = -Infinity, pointerY = 0, isKeyDown = false, isBehind = false, leaves;
const isHeld = () => performance.now() - handAt < 2000 || isKeyDown
  || hasMouse.matches && document.querySelector("[data-live]:hover") !== null;
function showLater() {
  clearTimeout(leaves);
  leaves = setTimeout(() => { if (!isHeld()) soon(); }, 2100);
}
function noteHand() {
  handAt = performance.now();
  if (isBehind) showLater();
}
for (const type of ["pointerdown", "pointermove", "pointerup", "touchmove", "touchend", "scroll"]) {
  document.addEventListener(type, (event) => {
    pointerY = event.clientY ?? pointerY;
    noteHand();
  }, { passive: true, capture: true });
}
for (const type of ["keydown", "keyup", "blur"]) {
  addEventListener(type, () => { isKeyDown = type === "keydown"; noteHand(); });
}

// How many rows of a part are new, changed or gone in another state of it.
function countChanges([part, next]) {
  const [before, after] = [part, next].map((of) => of.cloneNode(true));
  for (const kept of [before, after].flatMap((of) => [...of.querySelectorAll("[data-kept]")])) kept.remove();
  const [old, now] = [before, after].map((of) => [...of.querySelectorAll("tbody tr, ol > li")].map((row) => row.textContent));
  const missing = (some, others) => some.filter((text) => !others.includes(text)).length;
  return Math.max(missing(old, now), missing(now, old), before.textContent === after.textContent ? 0 : 1);
}

// The rows of a part in their order. A finger that does not touch the screen is seen by nobody, so rows come, go and
// change places only when somebody asks for it.
const places = (of) => [...of.querySelectorAll("tbody tr, .chips > li")].map((row) => row.querySelector("a")?.href).join(" ");

let asked = 0, shown = 0;
// Replaces the parts of this page that have data-live by those of another state of it: all of them, or none
// while somebody uses one or is about to, because they would contradict each other.
async function refresh(url, always = false) {
  const turn = (asked += 1);
  const response = await fetch(url, { headers: { "X-Petstore-Live": "1" } });
  if (response.redirected && new URL(response.url).pathname === "/sign-in") return tell("out");
  if (!response.ok || response.redirected) return;
  const other = new DOMParser().parseFromString(await response.text(), "text/html");
  if (turn < shown) return; // A later one has overtaken it.
  setZone(other.documentElement.dataset.zone);
  const all = [...document.querySelectorAll("[data-live]")].map((part) => [part, other.getElementById(part.id)]);
  const parts = all.filter(([, next]) => next);
  parts.flat().forEach(showTimes);
  const isEdited = ([part]) => [...part.querySelectorAll("form"), part.closest("form")].some((form) => edited.has(form));
  const focus = document.activeElement;
  const isUsed = ([part]) => isEdited([part]) || (part !== focus && part.contains(focus) && !focus.closest("[data-kept]"));
  const moves = parts.some(([part, next]) => places(part) !== "" && places(part) !== places(next));
  if (!always && (moves || isHeld() || parts.some(isUsed))) {
    isBehind = !moves;
    if (isBehind) showLater();
    const count = parts.map(countChanges).reduce((sum, some) => sum + some, 0);
    if (count) tell(parts.some(isEdited) ? "changed" : "show", count);
    return;
  }
  [shown, isBehind] = [turn, false];
  Object.assign(main.dataset, other.querySelector("main").dataset);
  showTimes(document);
  for (const [part, next] of parts) {
    // What somebody has opened stays open, because a hand may be on its way there.
    const title = (details) => details.querySelector("summary")?.textContent;
    for (const opened of part.querySelectorAll("details[open]")) {
      const same = [...next.querySelectorAll("details:not([open])")].find((details) => title(details) === title(opened));
      same?.setAttribute("open", "");
    }
    // What this page has of its own.
    for (const kept of part.querySelectorAll("[data-kept]")) other.getElementById(kept.id)?.replaceWith(kept);
    part.replaceChildren(...next.childNodes);
    Object.assign(part.dataset, next.dataset);
  }
  if (focus.isConnected && focus.closest("[data-kept]")) focus.focus({ preventScroll: true });
  noteDrafts();
  document.title = other.title;
  tell("");
}

// What was not shown because of the focus.
document.addEventListener("focusout", () => { if (isBehind) soon(); });

// The focus goes to what is new, because the button disappears.
show?.addEventListener("click", async () => {
  await refresh(location.href, true).catch(() => tell("lost"));
  live.tabIndex = -1;
  live.focus({ preventScroll: true });
});

document.addEventListener("input", (event) => {
  // A picked colour is typed, too.
  const filled = document.getElementById(event.target.dataset.fills);
  if (filled) filled.value = event.target.value;
  const form = event.target.form;
  if (!form) return;
  if (form.dataset.search === undefined) return void edited.add(form);
  clearTimeout(form.timer);
  form.timer = setTimeout(async () => {
    const url = new URL(form.action);
    url.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    // First, so that what changes meanwhile is shown for it.
    history.replaceState(null, "", url);
    await refresh(url, true).catch(() => tell("lost"));
    document.getElementById("heard").textContent = document.getElementById("results").dataset.found;
  }, 250);
});

// A second click while the first one is on its way does nothing. The service recognizes it, too.
let sent = new WeakMap();
addEventListener("pageshow", () => { sent = new WeakMap(); });

// What a form has, and had when the page came. Somebody who leaves the page is asked before it is lost.
const values = (form) => `${new URLSearchParams([...new FormData(form)].filter(([, value]) => typeof value === "string"))}`;
const drafts = new Map();
function noteDrafts() {
  for (const form of document.querySelectorAll("form[data-draft]")) drafts.has(form) || drafts.set(form, values(form));
}
noteDrafts();
addEventListener("beforeunload", (event) => {
  const isLost = ([form, before]) => form.isConnected && !sent.has(form) && edited.has(form) && values(form) !== before;
  if ([...drafts].some(isLost)) event.preventDefault();
});

// Without a connection, the page stays, because the browser would replace it by its own error. A browser that says it is
// offline can still reach a service on its own machine, so the service is asked before a form is kept back. The end of a
// session is never kept back.
const offline = document.getElementById("offline");
const own = document.currentScript.src;
const asking = new WeakSet(), answered = new WeakSet();
addEventListener("online", () => { offline?.setAttribute("hidden", ""); });

async function sendIfReached(form, submitter) {
  if (asking.has(form)) return;
  asking.add(form);
  const limits = { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(3000) };
  const isReached = await fetch(own, limits).then(() => true, () => false);
  asking.delete(form);
  offline.hidden = isReached;
  if (!isReached) return (submitter ?? form).after(offline);
  answered.add(form);
  form.requestSubmit(submitter?.form === form ? submitter : null);
  answered.delete(form);
}

// An order has a form for each thing that people do with it. Each of them saves what was typed into the others.
function takeTyped(form) {
  if (!form.dataset.part) return;
  const add = (name, value) => form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  for (const other of document.querySelectorAll(`form[data-part="${form.dataset.part}"]`)) {
    if (other === form || !edited.has(other)) continue;
    sent.set(other, Date.now());
    for (const { name, value } of [...other.elements]) {
      const was = other.elements[`was-${name}`]?.value;
      if (was === undefined || value === was) continue;
      const own = form.elements[name];
      if (!own) add(name, value);
      else if (own.value === was) own.value = value;
      if (name === "until" && other.elements["until-offset"] && !form.elements["until-offset"]) add("until-offset", 0);
    }
  }
}

document.addEventListener("submit", (event) => {
  const { target } = event;
  const isKeptBack = offline && !navigator.onLine && target.method === "post" && !answered.has(target);
  if (isKeptBack && new URL(target.action).pathname !== "/sign-out") {
    event.preventDefault();
    return sendIfReached(target, event.submitter);
  }
  if (Date.now() - sent.get(target) < 5000) return event.preventDefault();
  if (target.method !== "post") return;
  sent.set(target, Date.now());
  // The end of a day is that of the reader's zone, if the store has none.
  takeTyped(target);
  for (const day of target.querySelectorAll("input[name=until]")) {
    const field = target.elements[`${day.name}-offset`];
    if (field && day.value) field.value = new Date(`${day.value}T23:59:59`).getTimezoneOffset();
  }
  // If the service cannot be reached, "back" finds what was typed. The next page forgets it.
  if (edited.has(target) && !target.querySelector("[type=password], [autocomplete=one-time-code]")) {
    const fields = [...new FormData(target)].filter(([, value]) => typeof value === "string");
    const typed = { member: who(), page: location.href, action: target.action, form: target.id, fields };
    sessionStorage.setItem("typed", JSON.stringify(typed));
  }
});

// What only the script can do.
function showScripted() {
  for (const button of document.querySelectorAll("[data-copy]")) button.hidden = !navigator.clipboard;
  for (const part of document.querySelectorAll("[data-scripted]")) {
    part.hidden = false;
    part.querySelector("input").disabled = false;
  }
}

// Photos change their order by dragging, too.
const photo = (target) => target.closest?.(".photos > li");
let dragged;
document.addEventListener("dragstart", ({ target }) => { dragged = photo(target); });
document.addEventListener("dragend", () => { dragged = undefined; });
document.addEventListener("dragover", (event) => { if (dragged && photo(event.target)) event.preventDefault(); });
document.addEventListener("drop", (event) => {
  const [place, form] = [photo(event.target), dragged?.closest("form")];
  if (!place || !form || place === dragged) return;
  event.preventDefault();
  const position = [...place.parentNode.children].indexOf(place);
  for (const [name, value] of Object.entries({ do: `move-${dragged.dataset.photo}`, position })) {
    form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
  }
  form.requestSubmit();
});

document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-print]")) print();
  const { copy, done } = target.dataset;
  if (copy) {
    navigator.clipboard.writeText(copy).then(() => {
      target.textContent = document.getElementById("copied").textContent = done;
    }, () => getSelection().selectAllChildren(document.querySelector(".secret")));
  }
  // The menu of the member closes when something else is pressed.
  const menu = document.querySelector(".who[open]");
  if (menu && !menu.contains(target)) menu.open = false;
  if (target.matches("[data-all]")) {
    for (const box of target.form.elements) {
      if (box.name === "pet") box.checked = target.checked;
    }
    edited.add(target.form);
  }
});

// To add a word to what was searched.
const searched = document.querySelector("#q[autofocus]");
searched?.setSelectionRange(searched.value.length, searched.value.length);

// The field to search, from everywhere on a page that has one.
document.addEventListener("keydown", (event) => {
  const field = document.querySelector("#q");
  if (event.key !== "/" || !field || event.ctrlKey || event.target.matches("input, select, textarea")) return;
  event.preventDefault();
  field.select();
});

// In the bar of the list, the Enter key presses the button next to the input.
document.addEventListener("keydown", (event) => {
  const part = event.target.closest("#selected details");
  if (event.key !== "Enter" || event.target.localName !== "input" || !part) return;
  event.preventDefault();
  part.querySelector("button").click();
});

let stream, waiting, last = 0;

// Refreshes soon, but seldom: a busy store changes all the time.
function soon() {
  waiting ??= setTimeout(() => {
    waiting = undefined;
    last = Date.now();
    refresh(location.href).catch(() => {});
  }, Math.max(500, last + 5000 - Date.now()));
}

// A page that nobody looks at holds no connection.
function follow() {
  if (document.hidden) return void stream?.close();
  if (stream && stream.readyState !== EventSource.CLOSED) return;
  if (stream) soon();
  const { pet: wanted, after, day } = main.dataset;
  stream = new EventSource(`/live?${new URLSearchParams({ after, day, zone: zone ?? "" })}`);
  stream.onerror = ({ target }) => {
    if (target.readyState !== EventSource.CLOSED) return tell("lost");
    // The browser does not retry after an error of the service, or if the session is over.
    refresh(location.href).catch(() => tell("lost"));
    setTimeout(follow, 10000);
  };
  stream.onopen = () => { if (["lost", "out"].includes(news.dataset.shown)) { tell(""); soon(); } };
  stream.onmessage = ({ data }) => {
    if (!wanted || data === "*" || data.split(" ").includes(wanted)) soon();
  };
}

// What was typed into a form that did not arrive, with its key: if it has arrived, it is not carried out again.
// Before "back", the browser or the service showed an error. It is kept for this page, and for the same member.
const typed = JSON.parse(sessionStorage.getItem("typed") ?? "{}");
const { member, page, action, fields } = typed;
const cameBy = performance.getEntriesByType("navigation")[0].type;
const isLost = typed.isLost || cameBy === "back_forward" || document.querySelector("[data-failed]") !== null;
const lastSent = [...document.forms].find((form) => form.action === action && form.id === typed.form);
const unsent = page === location.href && lastSent;
sessionStorage.removeItem("typed");
// What was refused is only here.
if (drafts.has(lastSent) && document.querySelector(".problem")) {
  drafts.set(lastSent, "");
  edited.add(lastSent);
}
if (member && member === who() && isLost && !unsent) {
  sessionStorage.setItem("typed", JSON.stringify({ ...typed, isLost }));
} else if (unsent && member === who() && (isLost || cameBy === "reload")) {
  for (const field of unsent.elements) {
    const values = fields.filter(([name]) => name === field.name).map(([, value]) => value);
    if (["checkbox", "radio"].includes(field.type)) field.checked = values.includes(field.value);
    else if (values.length) field.value = values[0];
  }
  // Photos that had arrived, which the page does not show after it is loaded again.
  const list = unsent.querySelector("#waiting");
  for (const [, value] of fields.filter(([name]) => list && name === "photo")) {
    const place = document.createElement("li");
    place.innerHTML = '<label><img alt=""><input type="checkbox" name="photo" checked></label>';
    place.querySelector("img").src = `/photos/${value.split(".")[0]}-small.jpg`;
    place.querySelector("input").value = value;
    place.firstChild.append(list.dataset.label);
    list.append(place);
  }
  for (const closed of unsent.querySelectorAll("details")) closed.open = true;
  unsent.closest("details")?.setAttribute("open", "");
  edited.add(unsent);
}

// A message that came with the page: what it says is read, and Tab leads to its buttons. Also on a page with a
// fragment, where browsers ignore `autofocus`.
const message = document.getElementById("done");
if (document.activeElement === document.body) message?.focus({ preventScroll: true });
// It stays in sight for a moment. Its button stays for a minute: later, somebody may rely on what it undoes.
setTimeout(() => message?.classList.add("late"), message?.querySelector("[data-undo]") ? 60000 : 5000);

showScripted();
showTimes(document);
setInterval(() => showTimes(document), 60000);
if (live && document.querySelector("main[data-follow]")) {
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => stream?.close());
  addEventListener("pageshow", follow);
  follow();
}

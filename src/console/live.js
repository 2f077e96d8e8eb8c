// Additions to pages that work without them: times in the reader's zone, search while typing, and new
// content when something changed. It never touches a form that somebody is editing.
"use strict";

// A unit, its length in seconds, and from how many of it on it is used.
const units = [["day", 86400, 2], ["hour", 3600, 1], ["minute", 60, 1]];
// In the language of the page, whatever that of the browser is; but in the zone of the reader.
const { lang } = document.documentElement;
const relative = new Intl.RelativeTimeFormat(lang, { numeric: "always" });
const exact = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" });
const edited = new WeakSet();
const who = () => document.querySelector(".who a")?.textContent;
function showTimes(root) {
  for (const time of root.querySelectorAll("time")) {
    const at = new Date(time.dateTime);
    const isOver = time.dataset.now && !time.dataset.soon;
    const seconds = Math.min((at - Date.now()) / 1000, isOver ? 0 : Infinity);
    const [unit, length] = units.find(([, length, least]) => Math.abs(seconds) >= length * least) ?? [];
    time.title = exact.format(at);
    if (time.dataset.exact !== undefined || Math.abs(seconds) >= 7 * 86400) {
      time.textContent = exact.format(at);
    } else {
      time.textContent = unit ? relative.format(Math.trunc(seconds / length), unit)
        : seconds <= 0 ? time.dataset.now : time.dataset.soon;
    }
  }
}

const news = document.getElementById("news");
// Says that this page is not what the store has now: "changed", "lost", or nothing.
function tell(what) {
  if (!news || (news.dataset.shown ?? "") === what) return;
  news.dataset.shown = what;
  news.hidden = !what;
  news.firstChild.textContent = news.dataset[what] ?? "";
}

let asked = 0, shown = 0;
// Replaces the parts of this page that have data-live by those of another state of it: all of them, or none
// while somebody uses one, because they would contradict each other.
async function refresh(url, always = false) {
  const turn = (asked += 1);
  const response = await fetch(url, { headers: { "X-Petstore-Live": "1" } });
  if (!response.ok || response.redirected) return;
  const other = new DOMParser().parseFromString(await response.text(), "text/html");
  if (turn < shown) return; // A later one has overtaken it.
  const all = [...document.querySelectorAll("[data-live]")].map((part) => [part, other.getElementById(part.id)]);
  const parts = all.filter(([, next]) => next);
  parts.flat().forEach(showTimes);
  const isUsed = ([part]) => part.contains(document.activeElement)
    || [...part.querySelectorAll("form"), part.closest("form")].some((form) => edited.has(form));
  if (!always && parts.some(isUsed)) {
    if (parts.some(([part, next]) => part.textContent !== next.textContent)) tell("changed");
    return;
  }
  shown = turn;
  for (const [part, next] of parts) {
    part.replaceChildren(...next.childNodes);
    Object.assign(part.dataset, next.dataset);
  }
  document.title = other.title;
  tell("");
}

// What was not shown because of the focus.
document.addEventListener("focusout", () => { if (news?.dataset.shown === "changed") soon(); });

document.addEventListener("input", (event) => {
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

document.addEventListener("submit", (event) => {
  const { target } = event;
  if (Date.now() - sent.get(target) < 5000) return event.preventDefault();
  if (target.method !== "post" || target.dataset.upload !== undefined) return;
  sent.set(target, Date.now());
  // The end of a day is that of the reader's zone.
  for (const day of target.querySelectorAll("input[type=date]")) {
    const field = target.elements[`${day.name}-offset`];
    if (field && day.value) field.value = new Date(`${day.value}T23:59:59`).getTimezoneOffset();
  }
  // If the service cannot be reached, "back" finds what was typed. The next page forgets it.
  if (edited.has(target) && !target.querySelector("[type=password], [autocomplete=one-time-code]")) {
    const fields = [...new FormData(target)].filter(([, value]) => typeof value === "string");
    const typed = { member: who(), page: location.href, action: target.action, fields };
    sessionStorage.setItem("typed", JSON.stringify(typed));
  }
});

// Sends each picture by itself, so that those that arrived stay. One that is sent again is added once.
function send(form, file, key, row, attempt = 1) {
  return new Promise((done) => {
    const request = new XMLHttpRequest();
    const [result, bar] = row.querySelectorAll("span, progress");
    const end = (text) => {
      const hasArrived = text === form.dataset.arrived;
      bar.remove();
      [result.textContent, result.className] = [text, hasArrived ? "" : "error"];
      done(hasArrived);
    };
    request.upload.onprogress = ({ loaded, total }) => { bar.max = total; bar.value = loaded; };
    request.onload = () => {
      if (request.status < 400) return end(form.dataset.arrived);
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      end(page.querySelector(".problem li span, .problem")?.textContent
        ?? (request.status === 413 ? form.dataset.large : form.dataset.missing));
    };
    request.onerror = () => {
      if (attempt > 4) return end(form.dataset.missing);
      setTimeout(() => send(form, file, key, row, attempt + 1).then(done), 2000 * attempt);
    };
    const content = new FormData();
    content.append("_key", key);
    content.append("pictures", file);
    request.open("POST", form.action);
    request.send(content);
  });
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.dataset.upload === undefined) return;
  event.preventDefault();
  const [list, files] = [form.querySelector(".uploads"), [...form.elements.pictures.files]];
  const button = form.querySelector("button");
  button.disabled = true;
  edited.add(form);
  const rows = files.map((file) => {
    const row = document.createElement("li");
    row.append(file.name, ": ", document.createElement("span"), document.createElement("progress"));
    row.querySelector("progress").ariaLabel = file.name;
    return row;
  });
  list.replaceChildren(...rows);
  let haveAll = true;
  for (const [at, file] of files.entries()) {
    haveAll = await send(form, file, `${form.elements._key.value}-${at}`, rows[at]) && haveAll;
  }
  // The message about an animal that was just added stays.
  if (haveAll && !document.querySelector(".flash")) return location.reload();
  [button.disabled, form.elements.pictures.value] = [false, ""];
  refresh(location.href, haveAll).catch(() => {});
});

// What only the script can do.
function showScripted() {
  for (const part of document.querySelectorAll("[data-scripted]")) {
    part.hidden = false;
    part.querySelector("input").disabled = false;
  }
}

// Adds an animal, and then its photos by the form on its page. If it is not added, they stay chosen.
document.addEventListener("submit", async (event) => {
  const { target: form, submitter } = event;
  const files = form.querySelector("[data-scripted] input")?.files;
  if (!files?.length || event.defaultPrevented) return;
  event.preventDefault();
  const typed = [...new FormData(form, submitter)].filter(([, value]) => typeof value === "string");
  const response = await fetch(form.action, { method: "POST", body: new URLSearchParams(typed) }).catch(() => {});
  const other = new DOMParser().parseFromString(await response?.text() ?? "", "text/html");
  const [main, input] = [other.querySelector("main"), other.getElementById("pictures")];
  sent.delete(form);
  if (!input) {
    // The service does not respond, or the session is over: the browser sends the form, and shows what there is.
    form.querySelector("[data-scripted] input").value = "";
    return form.requestSubmit(submitter);
  }
  if (response.redirected) history.pushState(null, "", response.url);
  document.querySelector("main").replaceWith(document.adoptNode(main));
  document.title = other.title;
  input.files = files;
  showTimes(main);
  showScripted();
  edited.add(input.form);
  if (response.redirected) input.form.requestSubmit();
  else main.querySelector("[autofocus]")?.focus();
});

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
  if (target.matches("[data-all]")) {
    for (const box of target.form.elements) {
      if (box.name === "pet") box.checked = target.checked;
    }
    edited.add(target.form);
  }
});

let stream, waiting, last = 0;
const live = document.querySelector("[data-live]");

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
  const { pet: wanted, after } = document.querySelector("main").dataset;
  stream = new EventSource(`/live?after=${after}`);
  stream.onerror = ({ target }) => {
    tell("lost");
    // The browser does not retry after an error of the service.
    if (target.readyState === EventSource.CLOSED) setTimeout(follow, 10000);
  };
  stream.onopen = () => { if (news.dataset.shown === "lost") { tell(""); soon(); } };
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
const unsent = page === location.href && [...document.forms].find((form) => form.action === action);
sessionStorage.removeItem("typed");
if (member && member === who() && isLost && !unsent) {
  sessionStorage.setItem("typed", JSON.stringify({ ...typed, isLost }));
} else if (unsent && member === who() && (isLost || cameBy === "reload")) {
  for (const field of unsent.elements) {
    const values = fields.filter(([name]) => name === field.name).map(([, value]) => value);
    if (["checkbox", "radio"].includes(field.type)) field.checked = values.includes(field.value);
    else if (values.length) field.value = values[0];
  }
  for (const closed of unsent.querySelectorAll("details")) closed.open = true;
  unsent.closest("details")?.setAttribute("open", "");
  edited.add(unsent);
}

// A message that came with the page: what it says is read, and Tab leads to its buttons. Also on a page with a
// fragment, where browsers ignore `autofocus`.
const message = document.getElementById("done");
if (document.activeElement === document.body) message?.focus({ preventScroll: true });
// Later, somebody could have made another decision because of it.
setTimeout(() => message?.querySelector("[data-undo]")?.remove(), 60000);

// What was typed before signing in again.
document.querySelector("form[data-resubmit]")?.requestSubmit();
showScripted();
showTimes(document);
setInterval(() => showTimes(document), 60000);
if (live && document.querySelector("main[data-follow]")) {
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => stream?.close());
  addEventListener("pageshow", follow);
  follow();
}

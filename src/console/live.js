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

function showTimes(root) {
  for (const time of root.querySelectorAll("time")) {
    const at = new Date(time.dateTime);
    const seconds = (at - Date.now()) / 1000;
    const [unit, length] = units.find(([, length, least]) => Math.abs(seconds) >= length * least) ?? [];
    time.title = exact.format(at);
    if (time.dataset.exact !== undefined || Math.abs(seconds) >= 7 * 86400) {
      time.textContent = exact.format(at);
    } else {
      time.textContent = unit ? relative.format(Math.trunc(seconds / length), unit)
        : seconds < 0 ? time.dataset.now : time.dataset.soon;
    }
  }
}

// Replaces the parts of this page that have an id and data-live by those of another state of it.
async function refresh(url, always = false) {
  const response = await fetch(url, { headers: { "X-Petstore-Live": "1" } });
  if (!response.ok || response.redirected) return;
  const other = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const busy = part.contains(document.activeElement) && document.activeElement !== document.body;
    const forms = [...part.querySelectorAll("form"), part.closest("form")];
    const next = other.getElementById(part.id);
    if (!next || !always && (busy || forms.some((form) => edited.has(form)))) continue;
    showTimes(next);
    if (next.innerHTML !== part.innerHTML) part.replaceChildren(...next.childNodes);
  }
}

document.addEventListener("input", (event) => {
  const form = event.target.form;
  if (!form) return;
  if (form.dataset.search === undefined) return void edited.add(form);
  clearTimeout(form.timer);
  form.timer = setTimeout(async () => {
    const url = new URL(form.action);
    url.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    await refresh(url, true);
    history.replaceState(null, "", url);
  }, 250);
});

// A second click while the first one is on its way does nothing. The service recognizes it, too.
let sent = new WeakMap();
addEventListener("pageshow", () => { sent = new WeakMap(); });

document.addEventListener("submit", (event) => {
  const { target } = event;
  if (Date.now() - sent.get(target) < 5000) return event.preventDefault();
  if (target.method === "post") sent.set(target, Date.now());
  // The end of a day is that of the reader's zone.
  for (const day of target.querySelectorAll("input[type=date]")) {
    const field = target.elements[`${day.name}-offset`];
    if (field && day.value) field.value = new Date(`${day.value}T23:59:59`).getTimezoneOffset();
  }
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
  stream = new EventSource("/live");
  stream.onmessage = ({ data }) => {
    const wanted = document.querySelector("main").dataset.pet;
    if (!wanted || data === "*" || data.split(" ").includes(wanted)) soon();
  };
}

// What was typed before signing in again.
document.querySelector("form[data-resubmit]")?.requestSubmit();
showTimes(document);
setInterval(() => showTimes(document), 60000);
if (live && document.querySelector("main[data-follow]")) {
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => stream?.close());
  addEventListener("pageshow", follow);
  follow();
}

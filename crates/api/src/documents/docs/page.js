"use strict";

// Dark if the reader's system is dark: Swagger UI goes by a class of the root.
const dark = matchMedia("(prefers-color-scheme: dark)");
const adopt = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", adopt);
adopt();

// The contract at ./, the store area at ./store.
const shown = location.pathname.endsWith("/store") ? "store" : "./";
const link = document.querySelector(`nav a[href="${shown}"]`);
link.setAttribute("aria-current", "page");
document.title = `${link.textContent} - Pet Store API`;

// Swagger UI leaves many controls without a name that a screen reader could say.
const nameOf = {
  "#servers": () => "Server",
  ".close-modal": () => "Close",
  ".body-param__text": () => "Request body",
  ".content-type": () => "Media type",
  ".examples-select-element": () => "Example",
  ".parameters td > select, .parameters td > input, .parameters textarea:not(.body-param__text)": (control) =>
    control.closest("tr").dataset.paramName,
  ".copy-to-clipboard button": () => "Copy to clipboard",
  "[aria-label='Remove authorization']": () => "Logout",
  "[aria-label='Apply credentials']": () => "Authorize",
  ".opblock-tag": (tag) => tag.dataset.tag,
  "table.responses-table": (table) =>
    `Responses of ${table.closest(".opblock").id.replace(/^operations-.*-/, "")}`,
};
const setIfOther = (element, attribute, value) => {
  if (element.getAttribute(attribute) !== value) element.setAttribute(attribute, value);
};
const amend = () => {
  for (const [selector, name] of Object.entries(nameOf))
    for (const element of document.querySelectorAll(selector))
      setIfOther(element, "aria-label", name(element));
  // What scrolls can be reached with the keyboard.
  for (const element of document.querySelectorAll(".microlight"))
    setIfOther(element, "tabindex", "0");
};
new MutationObserver(amend).observe(document.getElementById("swagger-ui"), {
  childList: true,
  subtree: true,
});

// JSON.parse rounds integers beyond 2^53. A response with such numbers is shown as text, with the digits that came.
const withDigits = (text) => {
  let isExact = true;
  const keepDigits = (_, value, { source }) => {
    if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value;
    isExact = false;
    return JSON.rawJSON(source);
  };
  try {
    const shownText = JSON.stringify(JSON.parse(text, keepDigits), null, 2);
    return isExact ? undefined : shownText;
  } catch {
    // The text is no JSON, or the browser does not know the digits.
    return undefined;
  }
};
const exactResponses = () => ({
  wrapComponents: {
    responseBody: (Original, { React }) => (properties) => {
      const content = withDigits(properties.content);
      const changes = content && { content, contentType: "text/plain" };
      return React.createElement(Original, { ...properties, ...changes });
    },
  },
});

SwaggerUIBundle({
  dom_id: "#swagger-ui",
  url: shown === "store" ? "../openapi-store.json" : "../openapi.json",
  validatorUrl: null,
  plugins: [exactResponses],
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
});

// Asks the browser for a passkey, or to make one, and sends what it says with the form around the button.
"use strict";
{
  const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

  async function ask(publicKey, { user, member, present }) {
    if (!user) {
      const { rawId, response } = await navigator.credentials.get({ publicKey });
      const { clientDataJSON, authenticatorData, userHandle, signature } = response;
      return { id: rawId, client: clientDataJSON, data: authenticatorData, user: userHandle, signature };
    }
    const { rawId, response } = await navigator.credentials.create({ publicKey: {
      ...publicKey,
      rp: { name: location.host },
      user: { id: bytes(user), name: member, displayName: member },
      pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
      excludeCredentials: present.split(" ").filter(Boolean).map((id) => ({ type: "public-key", id: bytes(id) })),
      authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
      attestation: "none",
    } });
    const data = said(response, "getAuthenticatorData") ?? authenticatorData(response.attestationObject);
    const key = said(response, "getPublicKey");
    const algorithm = key ? said(response, "getPublicKeyAlgorithm") : undefined;
    return { id: rawId, client: response.clientDataJSON, data, key, algorithm };
  }

  // Some password managers lack these methods, or give nothing. The service then finds the key in the data.
  function said(response, method) {
    try {
      return response[method]() || undefined;
    } catch {
      return undefined;
    }
  }

  // The data of the authenticator in an attestation object (CBOR): the bytes after the name and their length.
  function authenticatorData(attestationObject) {
    const object = new Uint8Array(attestationObject);
    const name = "hauthData";
    const start = String.fromCharCode(...object).indexOf(name) + name.length;
    return object[start] === 0x59
      ? object.slice(start + 3, start + 3 + object[start + 1] * 256 + object[start + 2])
      : object.slice(start + 2, start + 2 + object[start + 1]);
  }

  for (const box of document.querySelectorAll("[data-passkey]")) {
    const [button, wrong, form] = [box.querySelector("button"), box.querySelector(".error"), box.closest("form")];
    const say = (message) => { [wrong.textContent, wrong.hidden] = [message, !message]; };
    button.hidden = !window.PublicKeyCredential;
    // On the sign-in page, somebody without a passkey does not miss the button.
    if (button.hidden && (form.dataset.user || form.elements.for)) say(box.dataset.unsupported);
    // Also after "back".
    addEventListener("pageshow", () => { button.disabled = false; });
    let inputs = [];
    button.addEventListener("click", async () => {
      if (form.dataset.user && !form.reportValidity()) return;
      say("");
      button.disabled = true;
      try {
        const challenge = bytes(await (await fetch("/sign-in/passkey")).text());
        const said = await ask({ challenge, timeout: 300000, userVerification: "required" }, form.dataset);
        for (const input of inputs) input.remove();
        inputs = Object.entries(said).map(([name, part]) => {
          const value = typeof part === "number" ? part : text(part ?? []);
          return Object.assign(document.createElement("input"), { type: "hidden", name, value });
        });
        form.append(...inputs);
        if (!form.dataset.user) form.action = "/sign-in/passkey";
        form.submit();
      } catch (error) {
        say(box.dataset[error.name === "InvalidStateError" ? "known" : "stopped"]);
        button.disabled = false;
      }
    });
  }
}

// Offers the time zone of this device before all others, in the choice of the time zone of the store.
"use strict";
{
  const choice = document.querySelector("select[data-device]");
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  const option = [...choice.options].find(({ value }) => value === timeZone)?.cloneNode(true);
  if (option) {
    option.removeAttribute("selected");
    option.textContent = timeZone.replaceAll("_", " ");
    const group = Object.assign(document.createElement("optgroup"), { label: choice.dataset.device });
    group.append(option);
    choice.options[0].after(group);
  }
}

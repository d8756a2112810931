// The list of keys, and what the rings in the picture say.

import { button, html } from "../shared/elements.js";
import { HELP } from "./keys.js";
import { Popup } from "../shared/popup.js";

/** @typedef {import("../shared/words.js").Say} Say */

/**
 * A button and the list that it opens.
 * @param {Say} say
 * @param {AbortSignal} signal
 */
export function helpPopup(say, signal) {
  const opener = button("help", say("help_tip"), () => {}, signal);
  opener.textContent = "?";
  const popup = new Popup(opener, say("help"), signal);
  popup.root.classList.add("av-keys");
  const list = html("dl", "");
  for (const [keys, word] of HELP) {
    const term = html("dt", "");
    for (const key of keys.split("  ")) term.append(html("kbd", "", key));
    list.append(term, html("dd", "", say(word)));
  }
  const close = button("close", say("close"), () => popup.close(), signal);
  close.textContent = say("close");
  popup.root.append(html("strong", "", say("help")), list, html("p", "av-rings", say("help_rings")), close);
  return popup;
}

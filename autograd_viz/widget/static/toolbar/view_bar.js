// The buttons of the view: zoom, fit, save, copy, present. They stand in the toolbar, so nothing lies over the picture.

import { button, html } from "../shared/elements.js";

/**
 * @param {(action: string) => void} act
 * @param {boolean} hasDetails there is more than one detail of the figure
 * @param {import("../shared/words.js").Say} say
 * @param {AbortSignal} signal
 */
export function viewBar(act, hasDetails, say, signal) {
  const group = html("div", "av-view");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", say("view"));
  const names = ["detail", "zoom_out", "fit", "zoom_in", "download", "copy", "present"];
  const [detail, out, fit, into, down, copy, present] = names.map((name) => button(name, say(name), () => act(name), signal));
  present.setAttribute("aria-pressed", "false");
  detail.hidden = !hasDetails;
  group.append(detail, out, fit, into, down, copy, present);
  return { root: group, present };
}

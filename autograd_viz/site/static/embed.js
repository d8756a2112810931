// <autograd-viz>: a program in anyone's page or slides. The playground of this site runs it, in a frame.

import { packed } from "./link.js";

const HEIGHT = "560"; // px, unless the element names another

/** @param {string} text */
function undented(text) {
  const lines = text
    .replace(/^\s*\n/, "")
    .trimEnd()
    .split("\n");
  const indents = lines.filter((line) => line.trim()).map((line) => line.length - line.trimStart().length);
  return lines.map((line) => line.slice(Math.min(...indents))).join("\n") + "\n";
}

class AutogradViz extends HTMLElement {
  async connectedCallback() {
    if (this.shadowRoot) return;
    const root = this.attachShadow({ mode: "open" });
    const language = this.closest("[lang]")?.getAttribute("lang")?.slice(0, 2) ?? "";
    const code = await packed(undented(this.textContent ?? ""));
    const frame = document.createElement("iframe");
    frame.src = new URL(`./index.html#embed=1&lang=${encodeURIComponent(language)}&code=${code}`, import.meta.url).href;
    frame.title = "autograd_viz";
    frame.loading = "lazy";
    frame.setAttribute("sandbox", "allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox");
    const height = `${Number.parseInt(this.getAttribute("height") ?? HEIGHT, 10) || HEIGHT}px`;
    Object.assign(frame.style, { width: "100%", height, border: "1px solid #8888", boxSizing: "border-box" });
    this.style.display = "block";
    root.append(frame);
  }
}

customElements.define("autograd-viz", AutogradViz);

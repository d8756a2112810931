// The first script of a saved stepper's page: unpacks what stands in it compressed: style and data, then the front end itself.
// What is unpacked takes effect only because the page's policy names its hash.

/** @param {string} packed base64 of gzip of a text */
function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

document.body.dataset.avHeight = String(innerHeight); // px of the frame before anything fills it: see seenHeight
const steppedPlace = document.getElementById("av-stepper");
if (steppedPlace)
  new MutationObserver(() => document.getElementById("av-still")?.remove()).observe(steppedPlace, { childList: true });

for (const packed of document.querySelectorAll("script[data-packed]")) {
  const type = packed.getAttribute("data-packed") ?? "";
  const block = document.createElement(type === "text/css" ? "style" : "script");
  block.id = packed.id;
  block.setAttribute("type", type);
  block.textContent = await unpacked(packed.textContent ?? "");
  packed.replaceWith(block);
}

export {};

// The first script of a saved stepper's page: unpacks what stands in it compressed, data first, then the front end itself.
// An unpacked script runs only because the page's policy names its hash.

/** @param {string} packed base64 of gzip of a text */
function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

for (const packed of document.querySelectorAll("script[data-packed]")) {
  const script = document.createElement("script");
  script.id = packed.id;
  script.type = packed.getAttribute("data-packed") ?? "";
  script.textContent = await unpacked(packed.textContent ?? "");
  packed.replaceWith(script);
}

export {};

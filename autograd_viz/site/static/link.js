// A program in a link: base64url, without "=", of the program's UTF-8 as raw deflate (RFC 1951). `links.py` makes the same.

export const MOST_LINK = 60_000; // letters of a program in a link, unpacked

/** @param {string} packed base64url of deflated text */
export async function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const [parts, decoder] = [[""], new TextDecoder("utf-8", { fatal: true })];
  for (let length = 0; ; ) {
    const { done, value } = await stream.read();
    if (done) return parts.join("") + decoder.decode();
    length += value.length;
    if (length > MOST_LINK) throw new Error("too long");
    parts.push(decoder.decode(value, { stream: true }));
  }
}

/** @param {string} program */
export async function packed(program) {
  const stream = new Blob([program]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// Python, apart from the page: it has no document, no cookies, and the page's policy lets it ask the site alone.
// The page makes it from text, so that the policy holds here, and sends first where the site is and how large its files are.

const COUNTED_MS = 100;
/** @type {any} */
let python;
/** @type {(program: string, tell: (text: string) => void, step: number | undefined, language: string) => string} */
let runProgram;
/** @type {(at: number, question: string) => string} */
let askProgram;

/**
 * `fetch` that counts, and unpacks what the site keeps compressed.
 * @param {string} base
 * @param {Record<string, number>} sizes
 */
function counted(base, sizes) {
  const fetched = self.fetch.bind(self);
  let done = 0;
  let told = 0;
  self.fetch = async (what, options) => {
    const url = typeof what === "object" && "url" in what ? what.url : String(what);
    const name = url.startsWith(base) ? url.slice(base.length) : "";
    const isPacked = `${name}.gz` in sizes;
    const answer = await fetched(isPacked ? `${url}.gz` : what, isPacked ? {} : options);
    if (!(name in sizes || isPacked) || !answer.ok || !answer.body) return answer;
    const count = new TransformStream({
      transform(chunk, out) {
        done += chunk.byteLength;
        if (Date.now() - told > COUNTED_MS) postMessage({ kind: "loaded", done });
        if (Date.now() - told > COUNTED_MS) told = Date.now();
        out.enqueue(chunk);
      },
    });
    let body = answer.body.pipeThrough(count);
    if (isPacked) body = body.pipeThrough(new DecompressionStream("gzip"));
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(body, { headers: { "content-type": type } });
  };
}

/** What a program must not reach: what the site keeps for other pages, and a worker that would have all of it. */
function closeStores() {
  const closed = {
    self: ["indexedDB", "caches", "BroadcastChannel", "SharedWorker", "Worker"],
    navigator: ["storage", "locks"],
  };
  for (const [holder, names] of Object.entries(closed))
    for (let at = /** @type {any} */ (self)[holder]; at; at = Object.getPrototypeOf(at))
      for (const name of names) delete at[name];
}

/** @param {{ base: string, sizes: Record<string, number> }} site */
async function begin({ base, sizes }) {
  counted(base, sizes);
  const ours = self.fetch(`${base}autograd_viz.zip`).then((answer) => answer.arrayBuffer());
  importScripts(`${base}pyodide/pyodide.js`);
  python = await self.loadPyodide({ indexURL: `${base}pyodide/`, packages: ["numpy"] });
  postMessage({ kind: "starting" });
  python.unpackArchive(await ours, "zip", { extractDir: "/lib/python3.12/site-packages" });
  closeStores();
  runProgram = python.runPython("from autograd_viz.cli import tab; tab.start(); tab.run");
  askProgram = python.runPython("tab.ask");
  postMessage({ kind: "ready" });
}

/** @param {{ program: string, step: number | undefined, language: string }} task */
async function run({ program, step, language }) {
  let waiting = "";
  let told = Date.now();
  const flush = () => {
    if (waiting) postMessage({ kind: "printed", text: waiting });
    [waiting, told] = ["", Date.now()];
  };
  const tell = (/** @type {string} */ text) => {
    waiting += text;
    if (Date.now() - told > COUNTED_MS) flush();
  };
  const result = JSON.parse(runProgram(program, tell, step, language));
  if (result.needs.length) {
    postMessage({ kind: "loading", names: result.needs });
    await python.loadPackage(result.needs, { messageCallback: () => {} });
    return run({ program, step, language });
  }
  flush();
  postMessage({ kind: "ran", result });
}

self.onmessage = ({ data }) => {
  if (data.kind === "ask") {
    postMessage({ kind: "answered", at: data.at, answer: JSON.parse(askProgram(data.at, JSON.stringify(data.question))) });
    return;
  }
  const task = data.kind === "begin" ? begin(data) : run(data);
  task.catch((error) =>
    postMessage({
      kind: "died",
      error: String(error?.message ?? error)
        .trim()
        .split("\n")
        .pop(),
    }),
  );
};

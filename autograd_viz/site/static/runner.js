// The workers that run programs: one that runs, and a spare as soon as a program takes long, so that Stop costs no wait.

const LONG_MS = 3000;

/** @typedef {(message: any) => void} Hear */

export class Runner {
  /**
   * @param {Record<string, number>} sizes
   * @param {Hear} hear
   */
  constructor(sizes, hear) {
    this.sizes = sizes;
    this.hear = hear;
    this.base = new URL("./", location.href).href;
    /** @type {Promise<string>} */
    this.source = fetch("worker.js").then((answer) => answer.text());
    this.current = this.made();
    /** @type {{ worker: Promise<Worker>, isReady: boolean } | undefined} */
    this.spare = undefined;
    this.isBusy = false;
    /** @type {any} */
    this.waiting = undefined;
    this.timer = 0;
  }

  made() {
    const one = { isReady: false, worker: this.source.then((text) => this.start(text, () => one)) };
    return one;
  }

  /**
   * @param {string} text
   * @param {() => any} which
   */
  start(text, which) {
    const worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => this.heard(which(), data);
    worker.onerror = (event) => this.heard(which(), { kind: "died", error: event.message ?? "" });
    worker.postMessage({ kind: "begin", base: this.base, sizes: this.sizes });
    return worker;
  }

  /**
   * @param {any} one
   * @param {any} message
   */
  heard(one, message) {
    if (message.kind === "ready") one.isReady = true;
    if (one !== this.current) return;
    if (message.kind === "ready" && this.waiting) this.send();
    if (message.kind === "ran") this.ended();
    if (message.kind === "died") {
      const wasReady = one.isReady;
      this.ended();
      if (wasReady) this.replace();
    }
    this.hear(message);
  }

  /** @param {{ program: string, step: number | undefined, language: string }} task */
  run(task) {
    if (this.isBusy) this.stop();
    this.isBusy = true;
    this.waiting = { kind: "run", ...task };
    if (this.current.isReady) this.send();
  }

  async send() {
    const task = this.waiting;
    this.waiting = undefined;
    this.hear({ kind: "running" });
    this.timer = setTimeout(() => (this.spare ??= this.made()), LONG_MS);
    (await this.current.worker).postMessage(task);
  }

  /** What a slider asks of the program that has run. @param {number} at @param {any} question */
  async ask(at, question) {
    if (!this.isBusy && this.current.isReady) (await this.current.worker).postMessage({ kind: "ask", at, question });
  }

  ended() {
    clearTimeout(this.timer);
    this.isBusy = false;
  }

  replace() {
    const old = this.current;
    old.worker.then((worker) => worker.terminate());
    this.current = this.spare ?? this.made();
    this.spare = undefined;
  }

  stop() {
    if (!this.isBusy) return;
    const isWaiting = this.waiting !== undefined;
    this.waiting = undefined;
    this.ended();
    if (!isWaiting) this.replace();
    this.hear({ kind: "stopped" });
  }
}

// Why each tensor's grad is what it is: what was said at the start, and since.

/** @typedef {import("./history.js").Frame} Frame */

export class Reasons {
  /** @param {Record<string, string>} [start] */
  constructor(start) {
    this.start = this.known = start ?? {};
    /** @type {Frame | undefined} the last frame that is in `known` */
    this.frame = undefined;
  }

  /**
   * By tensor, after the frames that are shown.
   * @param {Frame[]} shown
   */
  after(shown) {
    const last = shown.at(-1);
    if (this.frame === last) return this.known;
    const from = this.frame === shown.at(-2) ? [this.known, last?.why] : [this.start, ...shown.map((frame) => frame.why)];
    this.frame = last;
    this.known = Object.assign({}, ...from);
    return this.known;
  }
}

// Which detail of a figure is drawn: the most detailed one that is whole in the stage, or the one that a person has asked for.

/** @typedef {"full" | "brief" | "names"} Name */
/** @typedef {import("./camera.js").Size} Size */

/**
 * @param {string} svg
 * @returns {Size}
 */
function sizeOf(svg) {
  const [, width, height] = /viewBox=["'][^ ]+ [^ ]+ ([^ ]+) ([^ ]+)["']/.exec(svg) ?? ["", "1", "1"];
  return { width: Number(width), height: Number(height) };
}

export class Details {
  /** @param {{ svg: string, details?: Partial<Record<Name, string>>, detail?: string, plain?: number[] }} picture */
  constructor({ svg, details = {}, detail = "auto", plain = [] }) {
    /** @type {Partial<Record<Name, string>>} */
    this.svgs = { full: svg, ...details };
    this.names = /** @type {Name[]} */ (Object.keys(this.svgs)); // the most detailed first
    this.isAuto = !this.names.includes(/** @type {Name} */ (detail));
    /** @type {Name} */
    this.now = this.isAuto ? "full" : /** @type {Name} */ (detail);
    /** @type {Name} what a stage would choose */
    this.best = this.now;
    this.page = ""; // for which it was chosen
    this.isTight = false; // presented, is it whole only with small letters?
    this.isBeside = false; // do the rules of a step stand beside the figure, since it is whole only so?
    this.plain = plain.join(" ");
    this.hasCode = /<g class='code'>/.test(svg); // do statements stand beside the boxes?
  }

  /** What is drawn. */
  get svg() {
    return this.now === "full" && !this.hasCode ? this.full : /** @type {string} */ (this.svgs[this.now]);
  }

  /** The full figure without the code beside it. */
  get full() {
    const svg = this.svgs.full ?? "";
    if (!this.plain) return svg;
    return svg.replace(/<g class='code'>[\s\S]*?<\/g>/g, "").replace(/viewBox='[^']*'/, `viewBox='${this.plain}'`);
  }

  /** Is something left out that can be shown in place? */
  get isShort() {
    return this.now !== "full";
  }

  /**
   * Choose for a stage.
   * @param {string} page what the room depends on: for the same page the choice stays, so that no step changes the figure
   * @param {(svg: string, tight: boolean) => number} leastOf scale at which a figure is read whole; tight, with small letters
   * @param {Size} under px of the stage at most, with the rules of a step over it
   * @param {Size} [beside] with the rules beside it
   * @returns {boolean} another detail is due
   */
  choose(page, leastOf, under, beside = under) {
    if (this.names.length < 2 || under.width <= 0 || page === this.page) return false;
    this.page = page;
    const isWhole = (/** @type {string} */ svg, /** @type {Size} */ room) => {
      const { width, height } = sizeOf(svg);
      return Math.min(room.width / width, room.height / height) >= leastOf(svg, this.isTight);
    };
    const fits = (/** @type {Name} */ name, /** @type {Size} */ room) =>
      isWhole(name === "full" ? this.full : (this.svgs[name] ?? ""), room);
    const find = (/** @type {boolean} */ tight) => {
      this.isTight = tight;
      return this.names.find((name) => fits(name, under) || fits(name, beside));
    };
    const found = find(false) ?? find(true);
    this.isTight &&= found !== undefined;
    const before = this.svg;
    this.hasCode = isWhole(this.svgs.full ?? "", under);
    this.best = found ?? /** @type {Name} */ (this.names.at(-1));
    if (this.isAuto) this.now = this.best;
    this.isBeside = !fits(this.now, under) && fits(this.now, beside);
    return this.svg !== before;
  }

  /** Another picture of the same pass begins as detailed as this one. @param {Details} before */
  goOn({ now, isAuto }) {
    if (!isAuto) this.ask(now);
    else if (this.isAuto && this.names.includes(now)) this.now = now;
  }

  /** @param {Name} name what a person wants */
  ask(name) {
    if (this.names.includes(name)) [this.now, this.isAuto] = [name, name === this.best];
  }

  /** The next one, from much to little and round; the one that the stage would choose leaves the choice to it. */
  turn() {
    this.ask(this.names[(this.names.indexOf(this.now) + 1) % this.names.length]);
  }
}

// The heat map of a run on a canvas: loss above, rows of cells, one row as a curve, a cursor.

import { html } from "../shared/elements.js";
import { LEGEND_LINE, legendOf, paintUnreached } from "./legend.js";
import { paintCurve, paintDashes } from "./line.js";
import { cutName, namesOf } from "./names.js";
import { colourOfNorm, ranksAt, shortNorm, tickDistance, unpackedBytes } from "./scale.js";

/** @typedef {import("../shared/words.js").Say} Say */
/** @typedef {import("./scale.js").RunData} RunData */
/** @typedef {import("./scale.js").RunRow} RunRow */

const [ABOVE, LOSS, BLOCK_GAP, AXIS, RIGHT, WIDEST] = [28, 70, 18, 24, 14, 24]; // px; the last: of a column
const CURVE = 70; // px: the height of a row that is a curve

export class Canvas {
  /**
   * @param {(said: string) => void} tell
   * @param {(step: number) => void} pick
   * @param {AbortSignal} signal
   */
  constructor(tell, pick, signal) {
    this.root = html("div", "av-run-stage");
    this.root.tabIndex = 0;
    this.root.setAttribute("role", "application");
    this.canvas = html("canvas", "av-run-canvas");
    this.root.append(this.canvas);
    this.tell = tell;
    /** @type {RunData | undefined} */
    this.data = undefined;
    /** @type {Say} */
    this.say = (key) => key;
    /** @type {Record<string, string>} */
    this.palette = {};
    this.width = 900;
    [this.row, this.column, this.curve] = [0, 0, -1];
    this.left = this.top = 0; // px: where the cells and the curve of the loss begin
    /** @type {import("./names.js").RunBlock[]} */
    this.blocks = [];
    /** @type {number[]} the top of each row */
    this.tops = [];
    this.norms = this.loss = this.probe = new Float32Array();
    this.bad = new Uint8Array();
    /** @type {import("./line.js").Band | undefined} */
    this.band = undefined;
    this.ranks = new Float32Array(0);
    this.canvas.addEventListener("pointermove", (event) => this.point(event, false), { signal });
    this.canvas.addEventListener("click", (event) => this.point(event, true) && pick(this.step), { signal });
    this.canvas.addEventListener("dblclick", () => this.toggleCurve(), { signal });
  }

  get columns() {
    return this.data?.start.length ?? 0;
  }

  /** The first step of the cursor's column. */
  get step() {
    return this.data?.start[this.column] ?? 0;
  }

  /** @param {RunData} data @param {Say} say */
  show(data, say) {
    [this.data, this.say] = [data, say];
    this.norms = new Float32Array(unpackedBytes(data.norms));
    this.loss = new Float32Array(unpackedBytes(data.loss));
    this.probe = new Float32Array(unpackedBytes(data.probe));
    this.bad = new Uint8Array(unpackedBytes(data.bad));
    const [least, most] = data.spread?.map((packed) => new Float32Array(unpackedBytes(packed))) ?? [];
    this.band = least && { least, most };
    this.ranks = new Float32Array(data.ranks ? unpackedBytes(data.ranks) : []);
    this.paint();
  }

  /** @param {Record<string, string>} palette */
  paintWith(palette) {
    this.palette = palette;
    this.paint();
  }

  /** @param {number} width */
  resized(width) {
    if (!width || Math.abs(width - this.width) < 1) return;
    this.width = width;
    this.paint();
  }

  /** @param {number} row */
  showRow(row) {
    [this.row, this.curve] = [row, row];
    this.paint();
    this.tell(this.sentence());
  }

  toggleCurve() {
    this.curve = this.curve === this.row ? -1 : this.row;
    this.paint();
  }

  /** @param {number} columns @param {number} rows */
  move(columns, rows) {
    if (!this.data?.rows.length) return;
    this.column = Math.min(this.columns - 1, Math.max(0, this.column + columns));
    this.row = Math.min(this.data.rows.length - 1, Math.max(0, this.row + rows));
    this.paint();
    this.tell(this.sentence());
  }

  /** @param {PointerEvent | MouseEvent} event @param {boolean} choose */
  point(event, choose) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor(((event.clientX - box.left - this.left) / this.room) * this.columns);
    const y = event.clientY - box.top;
    const row = this.tops.findIndex((top, k) => y >= top && y < top + this.heightOf(k));
    if (row < 0 || column < 0 || column >= this.columns) return false;
    const before = [this.row, this.column];
    [this.row, this.column] = [row, column];
    this.tell(this.sentence());
    if (choose) this.paint();
    else [this.row, this.column] = before;
    return true;
  }

  /** What stands at the cursor. */
  sentence() {
    const { data, row, column } = this;
    if (!data) return "";
    const at = row * this.columns + column;
    const norm = this.bad[at]
      ? this.say("not_finite")
      : Number.isNaN(this.norms[at])
        ? this.say("not_measured")
        : shortNorm(this.norms[at]);
    const end = (data.start[column + 1] ?? data.steps) - 1;
    const said = this.say(end > data.start[column] ? "cells" : "cell", {
      path: data.rows[row].path,
      step: data.start[column],
      end,
      norm,
    });
    const all = ranksAt(this.ranks, data.rows.length, row, data.start[column]);
    return all ? `${said}. ${this.say("cell_ranks", { ...all, last: Math.min(all.last, data.steps - 1) })}` : said;
  }

  // -- painting ---------------------------------------------------------------------------------------------------------

  get room() {
    return Math.min(this.width - this.left - RIGHT, WIDEST * this.columns);
  }

  get pitch() {
    return (this.data?.rows.length ?? 0) <= 40 ? 16 : 13;
  }

  /** @param {number} row */
  heightOf(row) {
    return row === this.curve ? CURVE : this.pitch;
  }

  paint() {
    const { data } = this;
    const pen = this.canvas.getContext("2d");
    if (!data || !pen || !this.palette.text) return;
    const legend = legendOf(this, pen, data);
    this.place(pen, legend.lines);
    const height = (this.tops.at(-1) ?? this.top + LOSS) + this.heightOf(data.rows.length - 1) + AXIS;
    const ratio = devicePixelRatio || 1;
    Object.assign(this.canvas, { width: Math.round(this.width * ratio), height: Math.round(height * ratio) });
    Object.assign(this.canvas.style, { width: `${this.width}px`, height: `${height}px` });
    pen.scale(ratio, ratio);
    pen.textBaseline = "middle";
    legend.paint();
    const isLog = this.paintLine(pen, this.loss, this.top, LOSS, this.palette["brown-stroke"], this.band, this.probe);
    this.write(pen, this.say(isLog ? "loss_log" : "loss"), this.left - 8, this.top + LOSS / 2, "text", "right");
    for (const { k, heading, end } of this.blocks)
      this.write(pen, heading, end, this.tops[k] + this.heightOf(k) / 2, "text", "right", true);
    data.rows.forEach((row, k) => this.paintRow(pen, row, k));
    this.paintAxis(pen, height - AXIS + 12);
    this.paintMarks(pen, height - AXIS);
    this.paintCursor(pen);
  }

  /**
   * Where the names and the rows stand: a gap before each block.
   * @param {CanvasRenderingContext2D} pen
   * @param {number} lines of the legend
   */
  place(pen, lines) {
    const { rows = [], class_name = "" } = this.data ?? {};
    Object.assign(
      this,
      namesOf(rows, class_name, this.width, (said, bold) => this.measure(pen, said, bold)),
    );
    this.top = lines * LEGEND_LINE + ABOVE;
    let y = this.top + LOSS + BLOCK_GAP;
    this.tops = rows.map((row, k) => {
      if (k && row.heading !== rows[k - 1].heading) y += 6;
      const top = y;
      y += this.heightOf(k);
      return top;
    });
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {RunRow} row
   * @param {number} k
   */
  paintRow(pen, row, k) {
    const [top, { data }] = [this.tops[k], this];
    if (!data) return;
    const middle = top + this.heightOf(k) / 2;
    this.write(pen, cutName(row.label), this.left - 8, middle, row.odd ? "grad" : "text", "right");
    if (!row.reached) return paintUnreached(pen, this.palette, [this.left, middle], this.room);
    const norms = this.norms.subarray(k * this.columns, (k + 1) * this.columns);
    if (k === this.curve) return void this.paintLine(pen, norms, top + 6, CURVE - 14, this.palette.link);
    const width = this.room / Math.max(1, this.columns);
    for (let c = 0; c < this.columns; c++) {
      const isBad = this.bad[k * this.columns + c];
      if (Number.isNaN(norms[c]) && !isBad) continue;
      const colour = norms[c] > 0 ? colourOfNorm(norms[c], data.low, data.high, data.scale) : this.palette["row-stroke"];
      pen.fillStyle = isBad ? this.palette.grad : colour;
      pen.fillRect(this.left + c * width, top, Math.ceil(width + 0.2), this.pitch - 2);
    }
  }

  /**
   * Numbers as a curve with its ends; true if it is logarithmic, because they span much.
   * @param {CanvasRenderingContext2D} pen
   * @param {Float32Array} values
   * @param {number} top
   * @param {number} height
   * @param {string} colour
   * @param {import("./line.js").Band} [band]
   * @param {Float32Array} [dots]
   */
  paintLine(pen, values, top, height, colour, band, dots) {
    const box = { left: this.left, top, width: this.room, height };
    const ends = paintCurve(pen, values, box, colour, band, dots, this.palette["blue-stroke"]);
    if (!ends) return false;
    this.write(pen, shortNorm(ends.most), this.left - 8, top, "none", "right");
    if (ends.least < ends.most) this.write(pen, shortNorm(ends.least), this.left - 8, top + height, "none", "right");
    return ends.isLog;
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} y */
  paintAxis(pen, y) {
    const { data } = this;
    if (!data) return;
    const distance = tickDistance(data.steps);
    for (let step = 0; step < data.steps; step += distance) this.write(pen, String(step), this.xOf(step), y, "none", "center");
    this.write(pen, this.say("step"), this.left - 8, y, "none", "right");
  }

  /** @param {CanvasRenderingContext2D} pen @param {number} bottom */
  paintMarks(pen, bottom) {
    for (const mark of this.data?.marks ?? []) {
      const x = this.xOf(mark.step);
      pen.fillStyle = pen.strokeStyle = this.palette.text;
      if (mark.kind === "skipped") pen.fillRect(x - 1, bottom, 3, 5);
      else {
        paintDashes(pen, [x, this.top - 10], [x, bottom]);
        const isRight = x > this.left + 120;
        this.write(
          pen,
          this.say("rate", { text: mark.text }),
          x + (isRight ? -4 : 4),
          this.top - 10,
          "text",
          isRight ? "right" : "left",
        );
      }
    }
  }

  /** @param {CanvasRenderingContext2D} pen */
  paintCursor(pen) {
    const top = this.tops[this.row];
    if (!this.columns || top === undefined) return;
    const width = this.room / this.columns;
    [pen.strokeStyle, pen.lineWidth] = [this.palette.text, 1.5];
    pen.strokeRect(this.left + this.column * width - 1, top - 1, Math.max(4, width + 2), this.heightOf(this.row));
  }

  /** @param {number} step */
  xOf(step) {
    const starts = this.data?.start ?? [];
    let column = starts.findIndex((start) => start > step);
    column = column < 0 ? starts.length - 1 : Math.max(0, column - 1);
    return this.left + (column / Math.max(1, starts.length)) * this.room;
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {string} said
   * @param {number} x
   * @param {number} y
   * @param {string} role
   * @param {CanvasTextAlign} align
   * @param {boolean} [bold]
   */
  write(pen, said, x, y, role, align, bold = false) {
    this.measure(pen, said, bold);
    pen.fillStyle = this.palette[role];
    pen.textAlign = align;
    pen.fillText(said, x, y, align === "right" && x < this.left ? Math.max(1, x - 4) : undefined);
  }

  /**
   * px of a text, in the letters of the pen from now on.
   * @param {CanvasRenderingContext2D} pen
   * @param {string} said
   * @param {boolean} [bold]
   */
  measure(pen, said, bold = false) {
    pen.font = `${bold ? "bold " : ""}11px system-ui, sans-serif`;
    return pen.measureText(said).width;
  }
}

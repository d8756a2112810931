// A model without a kernel: every step is recorded, so what the view asks of a kernel is answered at once.

/** @typedef {import("../pass/history.js").Frame} Frame */
/** @typedef {(content: any) => void} Listener */
/** @typedef {{ picture: any, frames: Frame[], step: number, pins?: import("../panel/pins.js").Pin[] }} Recording */

export class FileModel {
  /** @param {Recording} recording */
  constructor({ picture, frames, step, pins = [] }) {
    /** @type {Record<string, any>} */
    this.traits = {
      picture,
      frames,
      step,
      complete: true,
      shown_stops: [],
      pins,
      error: "",
      error_node: "",
      stopped: "",
      overlay: {},
      recorded: {},
    };
    /** @type {Map<string, Set<Listener>>} */
    this.listeners = new Map();
  }

  /** @param {string} name */
  get(name) {
    return this.traits[name];
  }

  /**
   * @param {string} name
   * @param {any} value
   */
  set(name, value) {
    if (this.traits[name] === value) return;
    this.traits[name] = value;
    this.tell(`change:${name}`, value);
  }

  save_changes() {}

  /** Nothing but recorded steps can be shown; the question is over. */
  send() {
    queueMicrotask(() => this.set("recorded", { answers: (this.traits.recorded.answers ?? 0) + 1 }));
  }

  /**
   * @param {string} event
   * @param {Listener} listener
   */
  on(event, listener) {
    this.listeners.set(event, (this.listeners.get(event) ?? new Set()).add(listener));
  }

  /**
   * @param {string} event
   * @param {Listener} listener
   */
  off(event, listener) {
    this.listeners.get(event)?.delete(listener);
  }

  /**
   * @param {string} event
   * @param {any} content
   */
  tell(event, content) {
    for (const listener of this.listeners.get(event) ?? []) listener(content);
  }
}

// A panel with nothing in it, for as long as there is no inspector.

export class Inspector {
  /** @param {any} context */
  constructor(context) {
    this.context = context;
    this.root = document.createElement("div");
  }

  /** @param {any} state */
  show(state) {
    this.root.textContent = String(state.selection ?? "");
  }
}

// What each widget sends: it takes the front end from the model that all of a kind share, so that a notebook stores it once.

/** @typedef {{ get: (name: string) => any, widget_manager?: unknown }} Model of anywidget */
/** @typedef {{ model: Model, el: HTMLElement }} Place */
/** @typedef {{ initialize?: (given: { model: Model }) => void, render: (given: Place) => (() => void) | void }} FrontEnd */
/** @typedef {{ get: (name: string) => string, loaded?: Promise<FrontEnd> }} Shared */

const TRIES = 40; // a notebook that is opened makes its models in any order
const RETRY_MS = 25;

/** @type {Promise<FrontEnd> | undefined} of this widget: a new kernel has another shared model */
let frontEnd;

/**
 * @param {Model} model
 * @returns {Promise<Shared>}
 */
async function sharedOf(model) {
  const id = model.get("front_end").replace("IPY_MODEL_", "");
  for (let left = TRIES; ; left--) {
    try {
      return await /** @type {any} */ (model.widget_manager).get_model(id);
    } catch (error) {
      if (!left) throw error;
      await new Promise((go) => setTimeout(go, RETRY_MS));
    }
  }
}

/** @param {Shared} shared */
async function imported(shared) {
  const url = URL.createObjectURL(new Blob([shared.get("source")], { type: "text/javascript" }));
  const id = `autograd-viz-${shared.get("kind")}`;
  const style = document.getElementById(id) ?? Object.assign(document.createElement("style"), { id });
  style.textContent = shared.get("style");
  document.head.append(style);
  try {
    return (await import(url)).default;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** @param {Model} model */
async function load(model) {
  const shared = await sharedOf(model);
  return (shared.loaded ??= imported(shared));
}

/** @param {{ model: Model }} given */
async function initializeLoaded(given) {
  (await (frontEnd ??= load(given.model))).initialize?.(given);
}

/** @param {Place} given */
async function renderLoaded(given) {
  return (await (frontEnd ??= load(given.model))).render(given);
}

export default { initialize: initializeLoaded, render: renderLoaded };

// How much room a figure has in a view: with the rules of a step over it, and with them beside it.

/** @typedef {import("../stage/camera.js").Size} Size */
/** @typedef {import("./view.js").View} View */

const [AROUND_SAID, BELOW, STRIP, EDGES] = [6, 14, 32, 4]; // px: around what is said, below the stage, of a line of code, of borders
const [COLUMN, LEAST_WIDE] = [248, 720]; // px of the column beside a figure for the rules; of a widget that has one
const [RULES_LARGER, RULE_LETTERS_LARGER] = [1.5, 1.76]; // how much larger rules are then, and their letters

/**
 * @param {View} view
 * @param {number} seen px of the page that a person sees at once
 * @returns {[under: Size, beside: Size]} px of the stage at most
 */
export function roomsOf({ said, code, side: { split }, stage }, seen) {
  said.formulas.measure((said.root.clientWidth || Infinity) / (stage.presented ? RULE_LETTERS_LARGER : 1));
  said.keepRoom(!code.hasRules);
  const { offsetTop, offsetHeight } = said.root; // of a picture without steps it is hidden
  const top = offsetHeight ? offsetTop + offsetHeight + AROUND_SAID : stage.root.offsetTop;
  const [width, strip] = [(split.root.parentElement?.clientWidth ?? 0) - EDGES, code.hasCode && !stage.presented ? STRIP : 0];
  const rules = offsetHeight && said.formulas.room * (stage.presented ? RULES_LARGER : 1);
  const height = seen - top - BELOW - strip - (code.hasRules ? rules : 0);
  const beside = { width: width - COLUMN, height: width < LEAST_WIDE ? 0 : height + rules + strip };
  return [{ width, height }, beside];
}

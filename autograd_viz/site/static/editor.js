// The editor: CodeMirror in a shadow root, whose style sheets the page's policy lets pass. An error stands under its line.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, WidgetType } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "light-dark(#8a1fa0, #e0a3f5)" },
  { tag: [tags.number, tags.bool, tags.null], color: "light-dark(#0b5c34, #8fe0b0)" },
  { tag: tags.string, color: "light-dark(#9a3b06, #ffc08a)" },
  { tag: tags.comment, color: "light-dark(#57606a, #a0aab5)", fontStyle: "italic" },
]);
const LOOK = EditorView.theme({
  "&": { height: "100%", fontSize: "14px" },
  ".cm-content": { caretColor: "light-dark(#1a1a1a, #f4f4f4)" },
  ".cm-cursor": { borderLeftColor: "light-dark(#1a1a1a, #f4f4f4)" },
  ".cm-gutters": { background: "light-dark(#f3f5f8, #1a212a)", color: "light-dark(#57606a, #a0aab5)" },
  ".cm-activeLine, .cm-activeLineGutter": { background: "light-dark(#5a8fd01a, #8fc4ff1a)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "light-dark(#b9d7f7, #2b4a6f) !important" },
  ".cm-scroller": { overflow: "auto", fontFamily: "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" },
  ".av-error": {
    margin: "2px 8px 4px 8px",
    padding: "4px 8px",
    whiteSpace: "pre-wrap",
    overflowWrap: "anywhere",
    borderLeft: "3px solid light-dark(#a01515, #ff9d9d)",
    color: "light-dark(#a01515, #ff9d9d)",
    background: "light-dark(#fdf0f0, #2d1b1f)",
  },
});

class ErrorBelow extends WidgetType {
  /** @param {string} text */
  constructor(text) {
    super();
    this.text = text;
  }
  toDOM() {
    const box = document.createElement("div");
    box.className = "av-error";
    box.textContent = this.text;
    return box;
  }
  /** @param {ErrorBelow} other */
  eq(other) {
    return other.text === this.text;
  }
}

const setError = StateEffect.define();
const errors = StateField.define({
  create: () => Decoration.none,
  update(/** @type {any} */ shown, /** @type {any} */ change) {
    let now = change.docChanged ? Decoration.none : shown;
    for (const effect of change.effects) if (effect.is(setError)) now = effect.value;
    return now;
  },
  provide: (/** @type {any} */ field) => EditorView.decorations.from(field),
});

// Over a selection a browser would insert a text with the selection's style as an attribute, which the page's policy refuses.
const PLAIN_OVER_SELECTION = EditorView.domEventHandlers({
  beforeinput(/** @type {InputEvent} */ event, /** @type {any} */ view) {
    const isPlain = event.inputType === "insertText" && event.data !== null && event.cancelable && !event.isComposing;
    if (!isPlain || view.state.selection.main.empty) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(event.data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

export class Editor {
  /**
   * @param {HTMLElement} place
   * @param {{ run: () => void, changed: () => void }} on
   */
  constructor(place, on) {
    const root = place.attachShadow({ mode: "open" });
    this.on = on;
    this.label = "";
    const hold = document.createElement("div");
    root.append(hold);
    hold.style.height = "100%";
    this.view = new EditorView({ parent: hold, root, state: this.stateOf("") });
  }

  /** @param {string} text */
  stateOf(text) {
    const run = () => {
      this.on.run();
      return true;
    };
    return EditorState.create({
      doc: text,
      extensions: [
        keymap.of(["Mod-Enter", "Shift-Enter"].map((key) => ({ key, run }))),
        history(),
        lineNumbers(),
        drawSelection(),
        highlightActiveLine(),
        EditorView.lineWrapping,
        indentOnInput(),
        bracketMatching(),
        indentUnit.of("    "),
        python(),
        syntaxHighlighting(COLOURS),
        LOOK,
        PLAIN_OVER_SELECTION,
        errors,
        keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ "aria-label": this.label, spellcheck: "false" }),
        EditorView.updateListener.of((/** @type {any} */ change) => change.docChanged && this.on.changed()),
      ],
    });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  set text(text) {
    this.view.setState(this.stateOf(text));
  }

  /** @param {string} label */
  name(label) {
    this.label = label;
    this.view.contentDOM.setAttribute("aria-label", label);
  }

  /**
   * Shows an error under a line; none without a line.
   * @param {number | null} line
   * @param {string} text
   */
  mark(line, text) {
    const lines = this.view.state.doc.lines;
    const at = line ? this.view.state.doc.line(Math.min(Math.max(line, 1), lines)) : null;
    const widget = Decoration.widget({ widget: new ErrorBelow(text), block: true, side: 1 });
    const effects = [setError.of(at ? Decoration.set([widget.range(at.to)]) : Decoration.none)];
    if (at) effects.push(EditorView.scrollIntoView(at.to, { y: "center" }));
    this.view.dispatch({ effects });
  }
}

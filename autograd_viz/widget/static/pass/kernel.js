// The kernel, asked: one message at a time, and a long silence means that it is gone.

/**
 * @typedef {object} Model
 * @property {(name: string) => any} get
 * @property {(name: string, value: any) => void} set
 * @property {() => void} save_changes
 * @property {(content: any) => void} send
 * @property {(event: string, callback: (content: any) => void) => void} on
 * @property {(event: string, callback: (content: any) => void) => void} off
 * @property {{ kernel?: { status?: string } | null }} [widget_manager] a notebook's has a kernel, a page that nbconvert wrote has none
 */

const SILENCE_MS = 4000; // after which an unanswered question means that the kernel is gone
const IDLE_MS = 1000; // the same, if the notebook says that the kernel does nothing: a new one knows no old page
const AT_WORK = ["busy", "unknown", undefined]; // a page does not always know
const NEWEST = ["goto", "move"]; // questions of which the newest stands for all
const NUDGES_MS = [12, 24, 40, 500, 1500]; // Jupyter's server keeps the answer back until the page acknowledges "busy", for 40 ms if it has nothing to send; a kernel may overlook a message until the next one comes

export class Kernel {
  /**
   * @param {Model} model
   * @param {{ answered: () => void, silent: () => void }} context what is called after an answer, and when none has come for long
   */
  constructor(model, { answered, silent }) {
    this.model = model;
    this.answered = answered;
    this.silent = silent;
    /** @type {ReturnType<typeof setTimeout>[]} */
    this.silence = [];
    /** @type {ReturnType<typeof setTimeout>[]} */
    this.nudges = [];
    this.answers = model.get("recorded")?.answers ?? 0;
    this.asked = false; // a question is on its way
    /** @type {any[]} questions that wait for the answer to it: Jupyter may hand two to two threads, and the later be done first */
    this.waiting = [];
    this.gone = false;
  }

  /** @param {any[]} questions */
  ask(questions) {
    for (const question of questions) {
      if (NEWEST.includes(question.kind) && this.waiting.at(-1)?.kind === question.kind) this.waiting.pop();
      this.waiting.push(question);
    }
    if (!this.asked) this.sendWaiting();
  }

  /** What waits, in one message: it is answered once. */
  sendWaiting() {
    const questions = this.waiting.splice(0);
    this.asked = true;
    this.listenForSilence();
    this.send(questions.length === 1 ? questions[0] : { kind: "all", questions });
    this.hush();
    this.nudges = NUDGES_MS.map((ms) => setTimeout(() => this.send({ kind: "nudge" }), ms));
  }

  /** No more nudges. */
  hush() {
    for (const nudge of this.nudges) clearTimeout(nudge);
  }

  /** @param {any} message */
  send(message) {
    try {
      this.model.send(message);
    } catch {
      // no connection: the timer of silence says so
    }
  }

  listenForSilence() {
    this.stopListening();
    const isAtWork = () => AT_WORK.includes(this.model.widget_manager?.kernel?.status);
    this.silence = [setTimeout(() => isAtWork() || this.giveUp(), IDLE_MS), setTimeout(() => this.giveUp(), SILENCE_MS)];
  }

  stopListening() {
    for (const timer of this.silence) clearTimeout(timer);
  }

  giveUp() {
    this.stopListening();
    this.asked = false;
    this.gone = true;
    this.silent();
  }

  /** It lives: it has done what was asked, or a part of it, or has said why not. */
  heard() {
    const { answers = 0 } = this.model.get("recorded");
    if (answers > this.answers) this.next();
    else if (this.asked) this.listenForSilence();
    this.answers = answers;
  }

  /** After an answer: what has waited for it. */
  next() {
    this.gone = this.asked = false;
    this.hush();
    if (this.waiting.length) this.sendWaiting();
    else this.stopListening();
    this.answered();
  }

  /** No answer is awaited any more. */
  rest() {
    this.stopListening();
    this.hush();
    this.asked = false;
  }
}

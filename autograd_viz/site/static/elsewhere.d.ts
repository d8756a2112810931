// What the site's scripts use of others: the editor's modules, and what a worker has beyond a page.

declare module "@codemirror/*";
declare module "@lezer/*";

declare function importScripts(...urls: string[]): void;

interface Window {
  loadPyodide(options: object): Promise<any>;
}

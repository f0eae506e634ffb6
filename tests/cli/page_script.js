// Runs the script of report pages without a browser: `node page_script.js PAGE...` prints a JSON array with the
// script's error (or null) and the text of each page. The document has only what the script uses.
"use strict";
const fs = require("fs"), vm = require("vm");

class Element {
  constructor(tag) {
    Object.assign(this, { tag, attributes: {}, children: [], style: { setProperty() {} }, dataset: {} });
    this.viewBox = { baseVal: { height: 1 } };
  }
  setAttribute(name, value) { this.attributes[name] = String(value); }
  append(...items) { this.children.push(...items); }
  prepend(...items) { this.children.unshift(...items); }
  replaceChildren(...items) { this.children = items; }
  addEventListener() {}
  get text() {
    return this.children.map(child => child instanceof Element ? child.text : String(child)).join(" ");
  }
  find(id) {
    if (this.attributes.id === id) return this;
    return this.children.filter(child => child instanceof Element).map(child => child.find(id)).find(Boolean) ?? null;
  }
}

const shown = name => {
  const html = fs.readFileSync(name, "utf8");
  const [, json, script] = html.match(/id="run">([^]*?)<\/script>\s*<script>([^]*?)<\/script>/);
  const main = new Element("main"), listeners = [];
  const document = {
    createElement: tag => new Element(tag),
    createElementNS: (space, tag) => new Element(tag),
    getElementById: id => id === "run" ? { textContent: json } : main.find(id),
    querySelector: () => main,
    querySelectorAll: selector => selector.endsWith("span") ? [1, 2, 3].map(() => new Element("span")) : [],
  };
  let error = null;
  try {
    vm.runInNewContext(script, { document, addEventListener: (event, listener) => listeners.push(listener) });
  } catch (thrown) {
    error = thrown.message;
    listeners.forEach(listener => listener({ message: error }));
  }
  return { error, text: main.text };
};

console.log(JSON.stringify(process.argv.slice(2).map(shown)));

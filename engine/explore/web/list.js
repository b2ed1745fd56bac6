// A list of any length, of which only what is seen is in the document.
import { h } from "./dom.js";

const around = 6;

// VirtualList shows rows of one height. Its options: rowHeight in pixels, row(index)
// returns an element, role and label, choose(index) is called for a click and Enter.
export class VirtualList {
  constructor(options) {
    this.options = options;
    this.count = 0;
    this.chosen = -1;
    this.shown = new Map();
    this.space = h("div", { class: "space", role: "presentation" });
    this.element = h("div", {
      class: "virtual", tabindex: "0", role: options.role ?? "listbox", "aria-label": options.label,
      scroll: () => this.schedule(), keydown: (event) => this.key(event), click: (event) => this.click(event),
    }, this.space);
    new ResizeObserver(() => this.schedule()).observe(this.element);
  }

  // set shows so many rows, all of them anew.
  set(count) {
    this.count = count;
    this.space.style.height = `${count * this.options.rowHeight}px`;
    this.clear();
    this.draw();
  }

  clear() {
    this.shown.forEach((row) => row.remove());
    this.shown.clear();
  }

  // select marks a row, and scrolls to it.
  select(index, scroll = true) {
    this.chosen = index;
    if (scroll && index >= 0) this.reveal(index);
    this.clear();
    this.draw();
  }

  reveal(index) {
    const { rowHeight } = this.options;
    const top = index * rowHeight;
    const height = this.element.clientHeight;
    if (index === 1) this.element.scrollTop = 0; // with the heading above it
    else if (top < this.element.scrollTop) this.element.scrollTop = top;
    else if (top + rowHeight > this.element.scrollTop + height) this.element.scrollTop = top + rowHeight - height;
  }

  schedule() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  draw() {
    const { rowHeight, row } = this.options;
    const from = Math.max(0, Math.floor(this.element.scrollTop / rowHeight) - around);
    const to = Math.min(this.count, Math.ceil((this.element.scrollTop + this.element.clientHeight) / rowHeight) + around);
    for (const [index, element] of this.shown) {
      if (index < from || index >= to) {
        element.remove();
        this.shown.delete(index);
      }
    }
    for (let index = from; index < to; index++) {
      if (this.shown.has(index)) continue;
      const element = row(index);
      element.style.transform = `translateY(${index * rowHeight}px)`;
      element.style.height = `${rowHeight}px`;
      element.dataset.index = index;
      element.id ||= `${this.options.name}-${index}`;
      element.setAttribute("aria-selected", String(index === this.chosen));
      this.shown.set(index, element);
      this.space.append(element);
    }
    const active = this.shown.get(this.chosen);
    if (active) this.element.setAttribute("aria-activedescendant", active.id);
    else this.element.removeAttribute("aria-activedescendant");
  }

  click(event) {
    const row = event.target.closest("[data-index]");
    if (row) this.choose(Number(row.dataset.index));
  }

  choose(index) {
    if (index < 0 || index >= this.count) return;
    this.select(index);
    this.options.choose?.(index);
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.options.rowHeight) - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.count, End: this.count }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(Math.max(0, Math.min(this.count - 1, this.chosen + by)));
  }
}

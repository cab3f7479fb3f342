// The table: only the rows in view are in the document.

/** An element with properties and children; texts are never markup. */
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "scope") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

class Table {
  /** @param state The format, the span of octaves and the row that is opened. */
  constructor(state) {
    this.state = state;
    this.shown = rows;
    this.selected = 0;
    this.scroller = document.getElementById("scroller");
    this.table = document.getElementById("table");
    this.body = document.getElementById("rows");
    this.axis = document.getElementById("axis");
    this.scroller.addEventListener("scroll", () => this.soon(), { passive: true });
    this.body.addEventListener("click", (event) => this.clicked(event));
  }

  get rowHeight() {
    return parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row"));
  }

  get headHeight() {
    return this.table.tHead.offsetHeight;
  }

  soon() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.render();
    });
  }

  show(list) {
    const before = this.shown[this.selected];
    this.shown = list;
    this.selected = Math.max(list.indexOf(before), 0);
    this.table.setAttribute("aria-rowcount", list.length + 1);
    this.scroller.scrollTop = 0;
    document.getElementById("none").hidden = list.length > 0;
    this.redraw();
  }

  /** Draws everything again, as after a change of size or colors. */
  redraw() {
    drawAxis(this.axis, this.state.span, this.state.format);
    this.range = "";
    this.render();
  }

  render() {
    const height = this.rowHeight;
    const first = Math.max(Math.floor(this.scroller.scrollTop / height) - 4, 0);
    const count = Math.ceil(this.scroller.clientHeight / height) + 8;
    const end = Math.min(first + count, this.shown.length);
    const range = `${first} ${end}`;
    if (range === this.range) return;
    this.range = range;
    const focused = this.body.contains(document.activeElement);
    const items = this.shown.slice(first, end).map((row, i) => this.item(row, first + i));
    this.body.replaceChildren(space(first * height), ...items, space((this.shown.length - end) * height));
    for (const item of items) drawRow(item.querySelector("canvas"), item.row, this.state.span, this.state.format);
    if (focused) this.focus();
  }

  item(row, position) {
    const item = element("tr", { className: "item", role: "row", "aria-rowindex": position + 2 }, ...cellsOf(row, this.state));
    item.row = row;
    item.position = position;
    this.mark(item);
    return item;
  }

  mark(item) {
    const chosen = item.position === this.selected;
    item.setAttribute("aria-selected", chosen);
    item.tabIndex = chosen ? 0 : -1;
  }

  clicked(event) {
    const item = event.target.closest("tr.item");
    if (!item) return;
    this.select(item.position, false);
    this.state.open(item.row);
  }

  /** Selects a row, and scrolls it into view. */
  select(position, focus = true) {
    if (!this.shown.length) return;
    this.selected = Math.min(Math.max(position, 0), this.shown.length - 1);
    const height = this.rowHeight;
    const top = this.selected * height;
    const seen = this.scroller.clientHeight - this.headHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top + height > this.scroller.scrollTop + seen) this.scroller.scrollTop = top + height - seen;
    this.render();
    for (const item of this.body.querySelectorAll("tr.item")) this.mark(item);
    if (focus) this.focus();
  }

  focus() {
    this.body.querySelector('tr[aria-selected="true"]')?.focus({ preventScroll: true });
  }

  /** Handles a key; returns whether it has a meaning. */
  key(name) {
    const page = Math.max(Math.floor((this.scroller.clientHeight - this.headHeight) / this.rowHeight) - 1, 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (name === "Enter") {
      if (this.shown.length) this.state.open(this.shown[this.selected]);
    } else if (name in moves) {
      this.select(this.selected + moves[name]);
    } else return false;
    return true;
  }
}

/** A row as high as those that are not in the document. */
function space(height) {
  const row = element("tr", { className: "space", "aria-hidden": "true" });
  row.style.height = `${height}px`;
  return row;
}

function cellsOf(row, state) {
  const { path, last: name } = nameOf(row);
  const label = element("span", { className: "name", title: row.name || row.op }, path, element("b", {}, name));
  const about = [row.role, row.op, row.type, row.place].filter(Boolean).join(" · ");
  const shortened = [row.role, row.op, row.type, fileOf(row.place)].filter(Boolean).join(" · ");
  return [
    element("td", { className: "number", role: "gridcell" }, String(row.number + 1)),
    element("th", { className: "value", role: "rowheader", scope: "row" }, label, element("span", { className: "about", title: about }, shortened)),
    element("td", { className: "strip", role: "gridcell" }, element("canvas", { className: "cells", role: "img", "aria-label": described(row, state) })),
    element("td", { className: "scale", role: "gridcell" }, ...scaleOf(row)),
    element("td", { className: "loss", role: "gridcell" }, ...row.of.map((cell) => lossLine(cell, state))),
    element("td", { className: "snr", role: "gridcell" }, decibel(snrOf(row, state.format.name))),
  ];
}

/** A source line with the last folder of its path alone. */
const fileOf = (place) => place.split("/").slice(-2).join("/");

function lossLine(cell, state) {
  const loss = lossOf(cell, data.formats.indexOf(state.format));
  const outside = cell?.outside ?? 0;
  const title = outside ? `${percent(outside)} outside of ${cell.cast}, to which the recipe casts it` : "";
  const className = outside > 0.01 ? "pair bad" : "pair";
  const line = element("span", { className, title }, loss === null ? "–" : percent(loss));
  if (cell && (cell.nan || cell.inf)) line.append(element("b", { className: "bad" }, cell.nan ? " NaN" : " inf"));
  return line;
}

function scaleOf(row) {
  const found = row.of.map((cell) => cell?.scale).filter(Boolean);
  return found.map((scales) => {
    const line = element("span", { className: "pair" }, scaleText(last(scales)));
    const known = scales.filter((scale) => scale !== null);
    if (new Set(known).size > 1) line.append(curve(scales, 84, 16, `scales over steps: ${known.join(", ")}`));
    return line;
  });
}

const scaleText = (scale) => (scale === null ? "any" : `2^${Number(scale.toFixed(2))}`);

/** A histogram in words. */
function described(row, state) {
  const lines = row.of.map((cell, i) => {
    if (!cell || !cell.octaves) return `${data.variants[i].name}: none`;
    return `${data.variants[i].name}: 2^${cell.first} to 2^${cell.first + cell.octaves.length}, rms ${number(last(cell.rms))}`;
  });
  return `${lines.join("; ")}; ${state.format.label} has 2^${state.format.least} to 2^${state.format.top + 1}`;
}

// The controls of the page.

const byId = (id) => document.getElementById(id);

function choices(select, pairs) {
  select.replaceChildren(...pairs.map(([value, text]) => element("option", { value }, text)));
}

function rolesOf(row) {
  return [row.role, ...row.operands.map((operand) => `${operand.role} of a matmul`)].filter(Boolean);
}

/** The number of NaN and infinities in all programs. */
function brokenOf(row) {
  return row.of.reduce((sum, cell) => sum + (cell?.nan ?? 0) + (cell?.inf ?? 0), 0);
}

function fillControls() {
  const roles = [...new Set(rows.flatMap(rolesOf))].sort();
  choices(byId("role"), [["", "all"], ...roles.map((role) => [role, role])]);
  const parts = [...new Set(rows.map((row) => row.part))];
  choices(byId("part"), [["", "all"], ...parts.map((part) => [part, part])]);
  choices(byId("format"), data.formats.map((format, i) => [i, format.label]));
  const losses = data.variants.map((variant, i) => [`loss ${i}`, `worst loss, ${variant.name}`]);
  const snr = data.operands.length ? [["snr", "worst SNR"]] : [];
  const broken = rows.some(brokenOf) ? [["broken", "most NaN, infinities"]] : [];
  choices(byId("order"), [["program", "program"], ...losses, ...snr, ...broken]);
}

function filtered() {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const [role, part] = [byId("role").value, byId("part").value];
  return rows.filter(
    (row) =>
      words.every((word) => row.words.includes(word)) &&
      (!role || rolesOf(row).includes(role)) &&
      (!part || row.part === part),
  );
}

function ordered(list, format) {
  const [order, variant] = byId("order").value.split(" ");
  if (order === "program") return list;
  if (order === "broken") {
    const found = list.filter(brokenOf);
    return found.sort((m, n) => brokenOf(n) - brokenOf(m) || m.number - n.number);
  }
  if (order === "snr") {
    const found = list.map((row) => [snrOf(row, format.name), row]).filter(([db]) => db !== null);
    return found.sort(([a, m], [b, n]) => a - b || m.number - n.number).map(([, row]) => row);
  }
  const number = data.formats.indexOf(format);
  const found = list.map((row) => [lossOf(row.of[variant], number) ?? -1, row]);
  const size = (row) => row.of[variant]?.count ?? 0;
  return found.sort(([a, m], [b, n]) => b - a || size(n) - size(m) || m.number - n.number).map(([, row]) => row);
}

function tiles(state) {
  const number = data.formats.indexOf(state.format);
  const counted = rows.filter((row) => row.of.every((cell) => cell && cell.count > (cell.turns ?? 1)));
  const lossy = data.variants.map((_, i) => counted.filter((row) => lossOf(row.of[i], number) > 0.01).length);
  const broken = rows.filter(brokenOf).length;
  const ratios = rows.map((row) => snrOf(row, state.format.name)).filter((db) => db !== null);
  const found = [
    [rows.length.toLocaleString("en"), "values"],
    [lossy.map((count) => count.toLocaleString("en")).join(" → "), `tensors lose over 1 % in ${state.format.label}`, lossy[lossy.length - 1] > 0],
    [broken.toLocaleString("en"), "with NaN or infinities", broken > 0],
  ];
  if (data.operands.length) found.splice(2, 0, operandTile(number, state.format));
  if (ratios.length) found.push([decibel(Math.min(...ratios)), "lowest SNR of an operand"]);
  byId("tiles").replaceChildren(
    ...found.map(([count, text, bad]) =>
      element("li", {}, element("strong", { className: bad ? "bad" : "" }, count), element("span", {}, text)),
    ),
  );
}

/** How many operands of matmuls lose elements as they are, and with one scale for the tensor. */
function operandTile(number, format) {
  const asTheyAre = data.operands.filter((each) => lossOf(rows[numberOf.get(each.value)]?.of[0], number) > 0.01);
  const casts = data.operands.map((each) => castOf(each, format.name)).filter(Boolean);
  const scaled = casts.filter((cast) => cast.flushed + cast.clipped > 0.01).length;
  const counts = casts.length ? `${asTheyAre.length} → ${scaled}` : String(asTheyAre.length);
  const how = casts.length ? ", unscaled → scaled" : "";
  return [counts, `of ${data.operands.length} matmul operands do${how}`, scaled > 0];
}

class Page {
  constructor() {
    this.span = spanOf();
    this.format = data.formats[0];
    this.open = (row) => openDetails(row, this);
    this.table = new Table(this);
    fillControls();
    this.describe();
    this.panels = data.variants.map((variant, i) => this.panel(variant, i));
    byId("panels").replaceChildren(...this.panels.map(({ whole }) => whole));
    this.listen();
    this.update();
  }

  describe() {
    byId("title").textContent = data.program;
    const steps = data.steps.length === 1 ? "one step" : `${data.steps.length} steps`;
    const recipes = data.variants.slice(1).map((variant) => variant.recipe || variant.name);
    const compared = recipes.length ? `original and ${recipes.join(", ")}` : "original";
    byId("pair").textContent = data.variants.map((variant) => variant.name).join(" / ");
    byId("subtitle").textContent = [compared, steps, ...data.remarks].join(" · ");
  }

  panel(variant, i) {
    const label = `${variant.name}: log2 of the magnitudes of all values in program order`;
    const canvas = element("canvas", { role: "img", "aria-label": label });
    const rowAt = (event) => rows[Math.min(Math.floor((event.offsetX / canvas.clientWidth) * rows.length), rows.length - 1)];
    canvas.addEventListener("mousemove", (event) => (canvas.title = nameOf(rowAt(event)).last));
    canvas.addEventListener("click", (event) => this.jump(rowAt(event)));
    const whole = element("div", { className: "panel" }, element("span", {}, variant.name), canvas);
    return { whole, canvas, i };
  }

  /** Selects a row, without the filter if it hides the row. */
  jump(row) {
    if (!this.table.shown.includes(row)) {
      for (const id of ["filter", "role", "part"]) byId(id).value = "";
      byId("order").value = "program";
      this.update();
    }
    this.table.select(this.table.shown.indexOf(row));
  }

  listen() {
    byId("bar").addEventListener("input", () => this.update());
    byId("bar").addEventListener("submit", (event) => event.preventDefault());
    byId("close").addEventListener("click", () => byId("details").close());
    byId("details").addEventListener("close", () => this.closed());
    byId("details").addEventListener("click", (event) => {
      if (event.target === byId("details")) byId("details").close();
    });
    document.addEventListener("keydown", (event) => this.key(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    window.addEventListener("resize", () => this.draw());
  }

  /** Opens the value whose id is in the address. */
  follow() {
    const row = rows[numberOf.get(decodeURIComponent(location.hash.slice(1)))];
    if (!row || row === this.opened) return;
    this.jump(row);
    this.open(row);
  }

  closed() {
    this.opened = null;
    history.replaceState(null, "", "#");
    this.table.focus();
  }

  update() {
    this.format = data.formats[Number(byId("format").value)];
    for (const each of document.querySelectorAll(".format-name")) each.textContent = this.format.label;
    const list = ordered(filtered(), this.format);
    byId("shown").textContent = `${list.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
    tiles(this);
    readColors();
    this.drawPanels();
    this.table.show(list);
  }

  drawPanels() {
    for (const { canvas, i } of this.panels) drawProgram(canvas, i, this.span, this.format);
  }

  draw() {
    readColors();
    this.drawPanels();
    this.table.redraw();
    if (this.opened) openDetails(this.opened, this);
  }

  key(event) {
    if (byId("details").open || event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest?.("input, select");
    if (typing) {
      if (event.key === "Escape" || (event.key === "Enter" && typing.id === "filter")) this.table.select(this.table.selected);
      return;
    }
    if (event.key === "/") byId("filter").focus();
    else if (!this.table.key(event.key)) return;
    event.preventDefault();
  }
}

const page = new Page();
page.follow();
window.addEventListener("hashchange", () => page.follow());
requestAnimationFrame(() => (document.documentElement.dataset.ready = Math.round(performance.now())));

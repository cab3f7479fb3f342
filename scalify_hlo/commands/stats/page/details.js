// The numbers of one value, as tables.

function figures(caption, header, lines) {
  const head = element("tr", {}, ...header.map((text) => element("th", { scope: "col" }, text)));
  const body = lines.map(([name, ...cells]) =>
    element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((cell) => element("td", {}, cell))),
  );
  const table = element("table", {}, element("caption", {}, caption), element("thead", {}, head), element("tbody", {}, ...body));
  return element("div", { className: "figures", tabIndex: 0, role: "region", "aria-label": caption }, table);
}

function identityOf(row) {
  const facts = {
    op: row.op,
    "source line": row.place,
    type: row.type,
    kind: row.kind,
    role: row.role,
    part: row.part,
    inside: row.inside,
    "measured as": row.same === null ? "" : nameById(row.same),
    id: row.id,
  };
  const list = element("dl");
  for (const [name, text] of Object.entries(facts)) {
    if (text) list.append(element("dt", {}, name), element("dd", {}, text));
  }
  return list;
}

function nameById(id) {
  const row = rows[numberOf.get(id)];
  return row ? `${row.name || row.op} (${id})` : id;
}

const LINES = [
  ["rms", (cell) => number(last(cell.rms))],
  ["amax", (cell) => number(last(cell.amax))],
  ["smallest", (cell) => number(cell.least ?? 0)],
  ["log2 of scale", (cell) => (cell.scale ? scaleText(last(cell.scale)).replace("2^", "") : "")],
  ["type", (cell, row) => cell.type ?? row.type],
  ["elements", (cell) => (cell.count ?? 0).toLocaleString("en")],
  ["turns", (cell) => String(cell.turns ?? 0)],
  ["zeros", (cell) => (cell.zeros ?? 0).toLocaleString("en")],
  ["subnormal", (cell) => (cell.sub ?? 0).toLocaleString("en")],
  ["saturated", (cell) => (cell.sat ?? 0).toLocaleString("en")],
  ["infinite", (cell) => (cell.inf ?? 0).toLocaleString("en")],
  ["NaN", (cell) => (cell.nan ?? 0).toLocaleString("en")],
];

function numbersOf(row) {
  const header = ["", ...data.variants.map((variant) => variant.name)];
  const lines = LINES.map(([name, read]) => [name, ...row.of.map((cell) => (cell ? read(cell, row) : "–"))]);
  const losses = data.formats.flatMap((format, i) =>
    ["flushed", "clipped"].map((kind, k) => [
      `${kind} in ${format.label}`,
      ...row.of.map((cell) => (cell ? percent(lossesOf(cell, i)[k]) : "–")),
    ]),
  );
  const caption = data.steps.length > 1 ? `Of the last of ${data.steps.length} steps; counts are of all` : "Of one step";
  return figures(caption, header, [...lines, ...losses]);
}

function octaveTable(row) {
  const cells = row.of.map((cell) => new Map(cell && cell.octaves ? octavesOf(cell) : []));
  const octaves = [...new Set(cells.flatMap((cell) => [...cell.keys()]))].sort((a, b) => b - a);
  const lines = octaves.map((octave) => [
    `2^${octave}`,
    ...cells.map((cell) => (cell.has(octave) ? percent(shareOf(cell.get(octave))) : "0")),
  ]);
  const header = ["from", ...data.variants.map((variant) => variant.name)];
  return element("details", {}, element("summary", {}, "Histogram as a table"), figures("Share of the elements that are not zero, to a tenth", header, lines));
}

/** Curves over records of what varies. */
function curvesOf(row) {
  const found = [];
  row.of.forEach((cell, i) => {
    for (const [name, list] of cell ? [["scale", cell.scale], ["rms", cell.rms], ["amax", cell.amax]] : []) {
      if (!list || new Set(list).size < 2) continue;
      const known = list.filter((value) => value !== null);
      const text = (value) => (name === "scale" ? scaleText(value) : number(value));
      const ends = `${text(Math.min(...known))} to ${text(Math.max(...known))}`;
      const drawn = curve(list, 300, 40, `${name}: ${ends}`);
      drawn.style.cssText = "width: 300px; max-width: 100%; height: 40px";
      found.push(element("dt", {}, `${name}, ${data.variants[i].name}`), element("dd", {}, drawn, ends));
    }
  });
  return found.length ? [element("h3", {}, "Over records"), element("dl", { className: "curves" }, ...found)] : [];
}

function operandOf(operand) {
  const scalings = [...new Set(operand.formats.map((each) => each.scaling))];
  const formats = [...new Set(operand.formats.map((each) => each.format))];
  const text = (each) => {
    if (!each) return "";
    const lost = each.flushed + each.clipped;
    return `${each.snr === null ? "exact" : decibel(each.snr)}${lost ? ` (${percent(lost)})` : ""}`;
  };
  const lines = formats.map((format) => [format, ...scalings.map((scaling) => text(castOf(operand, format, scaling)))]);
  const caption = `${operand.name}: ${operand.role}, ${operand.contracted} products summed, ${data.texts[operand.place] || operand.part}`;
  return figures(caption, ["SNR (lost)", ...scalings], lines);
}

/** Fills the dialog with a row, and opens it. */
function openDetails(row, state) {
  const dialog = document.getElementById("details");
  const chart = element("canvas", { className: "big", role: "img", "aria-label": described(row, state) });
  const axis = element("canvas", { "aria-hidden": "true" });
  const operands = row.operands.length
    ? [element("h3", {}, "As an operand of a matmul: casts to each format, the worst step"), ...row.operands.map(operandOf)]
    : [];
  document.getElementById("details-title").textContent = row.name || row.op || row.id;
  document.getElementById("details-body").replaceChildren(
    identityOf(row), element("h3", {}, "log2 of magnitudes"), chart, axis, octaveTable(row),
    ...curvesOf(row), element("h3", {}, "Numbers"), numbersOf(row), ...operands,
  );
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  drawBars(chart, row, state.span, state.format);
  drawAxis(axis, state.span, state.format);
  state.opened = row;
  history.replaceState(null, "", `#${encodeURIComponent(row.id)}`);
}

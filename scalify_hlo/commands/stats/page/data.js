"use strict";
// The statistics as rows, and what is read from them.

const data = JSON.parse(document.getElementById("data").textContent);
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const LEVEL = Object.fromEntries([...LETTERS].map((letter, level) => [letter, level]));

const rows = data.rows.map((row, number) => ({
  number,
  id: row.id,
  kind: row.kind,
  op: data.texts[row.op].replace(/^stablehlo\./, ""),
  name: data.texts[row.name],
  place: data.texts[row.place],
  type: data.texts[row.type],
  inside: data.texts[row.inside],
  part: row.part,
  role: row.role,
  same: row.same ?? null,
  of: row.of,
  operands: [],
}));
const numberOf = new Map(rows.map((row) => [row.id, row.number]));
for (const operand of data.operands) {
  const row = rows[numberOf.get(operand.value)];
  if (row) row.operands.push(operand);
}
for (const row of rows) {
  const words = [row.name, row.op, row.place, row.id, row.type, ...row.operands.map((o) => o.name)];
  row.words = words.join("\n").toLowerCase();
}

/** The name of a row that a person reads first, and what stands before it. */
function nameOf(row) {
  const whole = row.name || row.op || row.id;
  const cut = whole.lastIndexOf("/") + 1;
  return { path: whole.slice(0, cut), last: whole.slice(cut) };
}

/** The share of elements that are flushed or clipped in a format; null for a value that is not there. */
function lossOf(cell, format) {
  if (!cell) return null;
  const [flushed, clipped] = lossesOf(cell, format);
  return flushed + clipped;
}

function lossesOf(cell, format) {
  return cell.loss ? cell.loss.slice(2 * format, 2 * format + 2) : [0, 0];
}

/** The effect on an operand of a cast with one scale for the tensor. */
function castOf(operand, format, scaling = "tensor") {
  return operand.formats.find((each) => each.format === format && each.scaling === scaling) ?? null;
}

/** The lowest signal-to-noise ratio of a row as an operand of matmuls; null if it is none. */
function snrOf(row, format) {
  const found = row.operands.map((operand) => castOf(operand, format)?.snr ?? null).filter((db) => db !== null);
  return found.length ? Math.min(...found) : null;
}

/** The class of an octave in a format. */
function classOf(octave, format) {
  if (octave > format.top || octave < format.least - 1) return "outside";
  return octave < format.normal ? "edge" : "inside";
}

/** The levels of the octaves of a cell as pairs [octave, level]. */
function* octavesOf(cell) {
  for (let i = 0; i < cell.octaves.length; i++) {
    const level = LEVEL[cell.octaves[i]];
    if (level) yield [cell.first + i, level];
  }
}

/** The lowest level that counts for the span: a share of 0.02 %. */
const SEEN = 14;

/** The share of elements that a level stands for. */
const shareOf = (level) => 2 ** ((level - 63) / 4);

/** How dark an octave is drawn. */
const darkness = (level) => 0.1 + 0.9 * (level / 63) ** 1.7;

/** The octaves that are drawn: nearly all of nearly all values. What lies beyond is drawn at the ends. */
function spanOf() {
  const [lows, highs] = [[], []];
  for (const cell of rows.flatMap((row) => row.of)) {
    const octaves = cell && cell.octaves ? [...octavesOf(cell)].filter(([, level]) => level >= SEEN) : [];
    if (!octaves.length) continue;
    lows.push(octaves[0][0]);
    highs.push(octaves[octaves.length - 1][0] + 1);
  }
  const at = (list, share) => list.sort((a, b) => a - b)[Math.floor(share * (list.length - 1))] ?? 0;
  return { low: Math.min(at(lows, 0.03), -26) - 1, high: Math.max(at(highs, 0.97), 17) + 1 };
}

function number(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e5 || size < 1e-3 ? value.toExponential(2) : String(Number(value.toPrecision(3)));
}

function percent(share) {
  if (share === null) return "";
  if (share === 0) return "0";
  if (share < 0.0001) return "<0.01 %";
  return `${(100 * share).toFixed(share < 0.1 ? 2 : 1)} %`;
}

const decibel = (db) => (db === null ? "" : `${db.toFixed(1)} dB`);
const last = (list) => (list && list.length ? list[list.length - 1] : null);

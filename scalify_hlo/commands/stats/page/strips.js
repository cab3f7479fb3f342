// Drawings: histograms as strips, their axis, and curves over steps.

const colors = {};

function readColors() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "line", "ink", "muted", "inside", "edge", "outside", "band", "accent"]) {
    colors[name] = style.getPropertyValue(`--${name}`).trim();
  }
}

/** A canvas at the resolution of the screen: its context, and its size in CSS pixels. */
function prepared(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

const place = (octave, span, width) => ((octave - span.low) / (span.high - span.low)) * width;

function drawBand(context, span, format, width, height) {
  const [left, right] = [place(format.normal, span, width), place(format.top + 1, span, width)];
  context.fillStyle = colors.band;
  context.fillRect(left, 0, right - left, height);
  context.fillStyle = colors.line;
  const least = place(format.least - 1, span, width);
  for (const x of [least, right]) context.fillRect(Math.round(x), 0, 1, height);
}

/** Draws the histogram of a cell between two heights. */
function drawCells(context, cell, span, format, width, top, height) {
  const step = width / (span.high - span.low);
  for (const [octave, level] of octavesOf(cell)) {
    const shown = Math.min(Math.max(octave, span.low), span.high - 1);
    context.globalAlpha = darkness(level);
    context.fillStyle = colors[classOf(octave, format)];
    context.fillRect(place(shown, span, width), top, step - (step > 4 ? 1 : 0), height);
  }
  context.globalAlpha = 1;
}

function drawRow(canvas, row, span, format) {
  const { context, width, height } = prepared(canvas);
  drawBand(context, span, format, width, height);
  const gap = 4;
  const each = (height - gap * (row.of.length + 1)) / row.of.length;
  row.of.forEach((cell, i) => {
    const top = gap + i * (each + gap);
    if (cell) return drawCells(context, cell, span, format, width, top, each);
    context.fillStyle = colors.line;
    context.fillRect(0, top + each / 2, width, 1);
  });
}

function drawBracket(context, format, span, width, y, chosen) {
  const clamp = (octave) => place(Math.min(Math.max(octave, span.low), span.high), span, width);
  const [least, normal, end] = [clamp(format.least), clamp(format.normal), clamp(format.top + 1)];
  const color = chosen ? colors.inside : colors.muted;
  context.fillStyle = context.strokeStyle = color;
  context.lineWidth = chosen ? 2 : 1;
  context.beginPath();
  context.moveTo(normal, y);
  context.lineTo(end, y);
  if (format.least >= span.low) context.rect(least, y - 3, 0, 6);
  if (format.top + 1 <= span.high) context.rect(end, y - 3, 0, 6);
  context.stroke();
  context.setLineDash([2, 2]);
  context.beginPath();
  context.moveTo(least, y);
  context.lineTo(normal, y);
  context.stroke();
  context.setLineDash([]);
  context.font = `${chosen ? "600 " : ""}11px ${getComputedStyle(document.body).fontFamily}`;
  const label = format.label;
  const size = context.measureText(label).width;
  const middle = Math.min(Math.max((normal + end) / 2 - size / 2, 2), width - size - 2);
  context.fillStyle = colors.paper;
  context.fillRect(middle - 4, y - 7, size + 8, 14);
  context.fillStyle = color;
  context.fillText(label, middle, y + 4);
}

function drawAxis(canvas, span, format) {
  canvas.style.height = `${14 * data.formats.length + 24}px`;
  const { context, width, height } = prepared(canvas);
  data.formats.forEach((each, i) => drawBracket(context, each, span, width, 10 + 14 * i, each === format));
  context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const every = [1, 2, 4, 8, 16, 32].find((n) => place(span.low + n, span, width) > 30) ?? 32;
  for (let octave = Math.ceil(span.low / every) * every; octave <= span.high; octave += every) {
    const x = place(octave, span, width);
    context.fillStyle = colors.line;
    context.fillRect(Math.round(x), height - 5, 1, 5);
    context.fillStyle = colors.muted;
    const size = context.measureText(octave).width;
    context.fillText(octave, Math.min(Math.max(x - size / 2, 0), width - size), height - 8);
  }
}

/** The color of the page's palette as red, green and blue. */
function channels(name) {
  const whole = parseInt(colors[name].slice(1), 16);
  return [whole >> 16, (whole >> 8) & 255, whole & 255];
}

/** Draws all values of one program: program order from left to right, magnitudes upwards. */
function drawProgram(canvas, variant, span, format) {
  const { context, width, height } = prepared(canvas);
  const octaves = span.high - span.low;
  const across = Math.min(canvas.width, rows.length);
  const image = new ImageData(across, octaves);
  const rgb = Object.fromEntries(["inside", "edge", "outside"].map((name) => [name, channels(name)]));
  for (let x = 0; x < across; x++) drawColumn(image, x, variant, span, format, rgb);
  const small = document.createElement("canvas");
  [small.width, small.height] = [across, octaves];
  small.getContext("2d").putImageData(image, 0, 0);
  const [top, bottom] = [span.high - format.top - 1, span.high - format.normal].map((n) => (n / octaves) * height);
  context.fillStyle = colors.band;
  context.fillRect(0, top, width, bottom - top);
  context.imageSmoothingEnabled = false;
  context.drawImage(small, 0, 0, width, height);
}

function drawColumn(image, x, variant, span, format, rgb) {
  const [first, end] = [x, x + 1].map((n) => Math.floor((n * rows.length) / image.width));
  const sums = new Float64Array(image.height);
  let count = 0;
  for (let i = first; i < Math.max(end, first + 1); i++) {
    const cell = rows[i].of[variant];
    if (!cell || !cell.octaves) continue;
    count++;
    for (const [octave, level] of octavesOf(cell)) {
      sums[Math.min(Math.max(span.high - 1 - octave, 0), image.height - 1)] += darkness(level);
    }
  }
  for (let y = 0; count && y < image.height; y++) {
    if (!sums[y]) continue;
    const color = rgb[classOf(span.high - 1 - y, format)];
    image.data.set([...color, Math.round((255 * sums[y]) / count)], 4 * (y * image.width + x));
  }
}

/** A curve over records as SVG; nulls are gaps. */
function curve(values, width, height, label) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("class", "spark");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const y = (value) => (high === low ? height / 2 : 2 + ((high - value) / (high - low)) * (height - 4));
  let path = "";
  let pen = "M";
  values.forEach((value, i) => {
    if (value === null) return (pen = "M");
    path += `${pen}${((i / Math.max(values.length - 1, 1)) * width).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = "L";
  });
  const line = document.createElementNS(space, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

/** Draws the histograms of a row as bars, one program over the other. */
function drawBars(canvas, row, span, format) {
  const { context, width, height } = prepared(canvas);
  drawBand(context, span, format, width, height);
  const each = height / row.of.length;
  const step = width / (span.high - span.low);
  row.of.forEach((cell, i) => {
    const floor = (i + 1) * each - 1;
    if (cell && cell.octaves) drawBarsOf(context, cell, span, format, width, floor, each - 16, step);
    context.fillStyle = colors.muted;
    context.fillRect(0, floor, width, 1);
    context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
    context.fillText(data.variants[i].name, 4, floor - each + 14);
  });
}

function drawBarsOf(context, cell, span, format, width, floor, most, step) {
  const found = [...octavesOf(cell)];
  const largest = Math.max(...found.map(([, level]) => shareOf(level)), 1e-9);
  for (const [octave, level] of found) {
    const shown = Math.min(Math.max(octave, span.low), span.high - 1);
    const size = Math.max((shareOf(level) / largest) * most, 1);
    context.fillStyle = colors[classOf(octave, format)];
    context.fillRect(place(shown, span, width), floor - size, Math.max(step - 1, 1), size);
  }
}

// Reads a drawn chart point by point, by keys and by pointer. The sentences come with the page: none is made here.

const SVG = "http://www.w3.org/2000/svg";
/** Readers are told no more often than four times a second. */
const APART = 250;

/**
 * Makes a drawing readable. Its data block is `{"year": points in a year, "lines": [{"name", "class", "points": [[x, value
 * or null, sentence], …]}]}`; the drawing's `g.plot` says where x and values lie: from, to, first place, last place. With
 * `periods` (by x) a point tells its value alone, and the lines beside it are read along; a line that is `whole` (events)
 * tells all by itself, and stands beside none.
 */
export function read(plot) {
  const data = JSON.parse(document.getElementById(plot.dataset.chart).textContent);
  const lines = data.lines.filter(({ points }) => points.length);
  const { periods } = data;
  const readout = plot.closest("figure").querySelector(".readout");
  if (!lines.length) return;
  plot.tabIndex = 0;
  plot.setAttribute("aria-label", plot.dataset.label);

  const rule = shape("line", "cursor");
  const dot = shape("circle", "");
  dot.setAttribute("r", "5");
  const beside = document.createElement("ul");
  beside.className = "beside";
  beside.setAttribute("aria-hidden", "true");
  let line = 0;
  let point = -1;
  let told = 0;
  let waiting;

  function tell(sentence) {
    clearTimeout(waiting);
    const due = told + APART - performance.now();
    const say = () => {
      told = performance.now();
      readout.textContent = sentence;
    };
    if (due <= 0) say();
    else waiting = setTimeout(say, due);
  }

  function go(toLine, toPoint) {
    line = toLine;
    point = Math.max(0, Math.min(toPoint, lines[line].points.length - 1));
    const [x, value, sentence] = lines[line].points[point];
    const here = drawing(plot);
    if (here) {
      const across = at(here.x, x);
      set(rule, { x1: across, x2: across, y1: here.y[2], y2: here.y[3] });
      here.group.append(rule);
      if (value === null) dot.remove();
      else {
        set(dot, { cx: across, cy: at(here.y, value), class: `mark-here ${lines[line].class}` });
        here.group.append(dot);
      }
    }
    const whole = !periods || lines[line].whole;
    tell(whole ? sentence : `${lines[line].name}, ${periods[x]}: ${sentence}`);
    if (whole) beside.remove();
    else readBeside(x);
    if (here) stand(here, x, value);
  }

  /** What the other lines say of the same day. */
  function readBeside(x) {
    const others = lines.flatMap((other, index) => {
      const told = index !== line && !other.whole && other.points[nearest(other.points, x)];
      return told && told[0] === x ? [[other.name, told[2].split(", ")[0]]] : [];
    });
    beside.replaceChildren(
      ...others.map(([name, told]) => {
        const item = document.createElement("li");
        item.textContent = `${name}: ${told}`;
        return item;
      }),
    );
    readout.after(beside);
  }

  /** The words stand beside the mark, where there is room: left or right of it, and not over it. */
  function stand({ svg, x: across, y: up }, x, value) {
    const box = svg.getBoundingClientRect();
    const place = (at(across, x) * box.width) / svg.viewBox.baseVal.width;
    const words = readout.parentElement;
    const left = place > box.width / 2;
    words.style.left = left ? "auto" : `${Math.round(place) + 12}px`;
    words.style.right = left ? `${Math.round(plot.clientWidth - place) + 12}px` : "auto";
    const low = value !== null && at(up, value) < (up[2] + up[3]) / 2;
    words.style.top = low ? "auto" : "0";
    words.style.bottom = low ? "2.5rem" : "auto";
  }

  function leave() {
    point = -1;
    rule.remove();
    dot.remove();
    beside.remove();
    tell("");
  }

  function other(step) {
    const to = (line + step + lines.length) % lines.length;
    const x = point < 0 ? undefined : lines[line].points[point][0];
    go(to, x === undefined ? lines[to].points.length - 1 : nearest(lines[to].points, x));
  }

  plot.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = lines[line].points.length - 1;
    const from = point < 0 ? last + 1 : point;
    const keys = {
      ArrowLeft: () => go(line, from - 1),
      ArrowRight: () => go(line, point < 0 ? last : point + 1),
      PageUp: () => go(line, from - data.year),
      PageDown: () => go(line, point < 0 ? last : point + data.year),
      Home: () => go(line, 0),
      End: () => go(line, last),
      ArrowUp: () => other(-1),
      ArrowDown: () => other(1),
      Escape: () => plot.blur(),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  plot.addEventListener("blur", leave);

  function follow(event) {
    const here = drawing(plot);
    if (!here) return;
    const box = here.svg.getBoundingClientRect();
    const unit = here.svg.viewBox.baseVal.width / box.width;
    const x = back(here.x, (event.clientX - box.left) * unit);
    const y = (event.clientY - box.top) * unit;
    // Of several lines the one that is nearest at this x.
    let best = [Infinity, line, point];
    lines.forEach(({ points }, index) => {
      const found = nearest(points, x);
      const away = points[found][1] === null ? 1e6 : Math.abs(at(here.y, points[found][1]) - y);
      if (away < best[0]) best = [away, index, found];
    });
    if (best[1] !== line || best[2] !== point) go(best[1], best[2]);
  }
  plot.addEventListener("pointermove", follow);
  plot.addEventListener("pointerdown", follow);
  plot.addEventListener("pointerleave", (event) => {
    // A finger that was lifted leaves what it found; a keyboard that is here keeps its place.
    if (event.pointerType === "mouse" && document.activeElement !== plot) leave();
  });
}

/** The one of the drawings that is shown: its element, its plot, and where x and values lie. */
function drawing(plot) {
  const svg = [...plot.querySelectorAll("svg.chart")].find((one) => one.getBoundingClientRect().width > 0);
  const group = svg?.querySelector("g.plot");
  return group && { svg, group, x: group.dataset.x.split(" ").map(Number), y: group.dataset.y.split(" ").map(Number) };
}

function at([low, high, start, stop], value) {
  return Math.round((start + ((value - low) * (stop - start)) / (high - low)) * 10) / 10;
}

function back([low, high, start, stop], place) {
  return low + ((place - start) * (high - low)) / (stop - start);
}

/** Place of the point nearest to x; points are in order. */
function nearest(points, x) {
  let [low, high] = [0, points.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (points[middle][0] <= x) low = middle;
    else high = middle;
  }
  return x - points[low][0] <= points[high][0] - x ? low : high;
}

function shape(name, kind) {
  const made = document.createElementNS(SVG, name);
  made.setAttribute("class", kind);
  return made;
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

// Thousands of days: uPlot over the server's drawing, so that one can zoom. Keys, table and caption stay as they were.

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY = 86400;

/** `place` has the address of the points (`data-points`): `{"days": since 1970, "values": or null, "told": sentences}`. */
export async function plotMany(place) {
  const figure = place.closest("figure");
  const plot = figure.querySelector(".plotted");
  const readout = figure.querySelector(".readout");
  const drawing = [...plot.querySelectorAll("svg.chart")].find((one) => one.getBoundingClientRect().width > 0);
  if (!drawing) return;
  let points;
  try {
    const answer = await fetch(place.dataset.points);
    if (!answer.ok || answer.redirected) return;
    points = await answer.json();
  } catch {
    return; // The drawing stays, and it is complete.
  }
  if (!plot.isConnected || !points.days.length) return;
  const colour = (name) => getComputedStyle(plot).getPropertyValue(name).trim();
  const box = drawing.getBoundingClientRect();
  const axis = { stroke: colour("--axis"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { show: false }, font: "12px sans-serif" };
  const holder = document.createElement("div");
  holder.className = "many";
  const options = {
    width: Math.round(box.width),
    height: Math.round(box.height),
    legend: { show: false },
    // Keys read the chart from the plot around it.
    cursor: { y: false, drag: { x: true, y: false } },
    scales: { x: { time: false } },
    axes: [{ ...axis, values: (_, splits) => labels(splits) }, { ...axis, values: (_, splits) => splits.map(number) }],
    series: [{}, { stroke: colour("--c1"), width: 1.5, points: { show: false } }],
    hooks: {
      setCursor: [
        ({ cursor }) => {
          if (cursor.idx != null && cursor.left >= 0) readout.textContent = points.told[cursor.idx];
        },
      ],
    },
  };
  const drawn = new window.uPlot(options, [points.days, points.values], holder);
  // What the pointer finds is uPlot's to say: the drawing below knows nothing of a zoom.
  for (const name of ["pointermove", "pointerdown", "pointerleave"]) holder.addEventListener(name, (event) => event.stopPropagation());
  plot.append(holder);
  plot.classList.add("over-drawing");
  place.hidden = false;
  new ResizeObserver(() => {
    const now = plot.getBoundingClientRect();
    if (now.width && Math.abs(now.width - drawn.width) > 1) drawn.setSize({ width: Math.round(now.width), height: Math.round(now.height) });
  }).observe(plot);
}

/** Days as years where they are years apart, else as months or days. */
function labels(splits) {
  const apart = splits.length > 1 ? splits[1] - splits[0] : 0;
  return splits.map((split) => {
    const day = new Date(split * DAY * 1000);
    const month = `${MONTHS[day.getUTCMonth()]} ${day.getUTCFullYear()}`;
    return apart >= 28 ? month : `${day.getUTCDate()} ${month}`;
  });
}

function number(value) {
  return value == null ? "" : String(value).replace("-", "−");
}

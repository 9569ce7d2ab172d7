// The slider over releases. What changes with the day is made by the server: this fetches it and puts it in place.

import { read } from "./chart.js";

/** While a thumb is drawn along, the server is asked no more often than this. */
const PAUSE = 120;
const slider = document.querySelector(".slider");
const range = document.getElementById("release");

if (slider && range) follow();
mount();

function follow() {
  const { days, words } = JSON.parse(document.getElementById("releases").textContent);
  const field = document.getElementById("as-of");
  let waiting;
  let asking;

  /** The address of a position; the newest release is what is known today. */
  function query(place) {
    const asked = new URLSearchParams(location.search);
    for (const name of ["as_of", "page", "period"]) asked.delete(name);
    if (place < days.length - 1) asked.set("as_of", days[place]);
    const text = asked.toString().replaceAll("%3A", ":");
    return text ? `?${text}` : "";
  }

  async function go(place) {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    const chart = document.getElementById("chart");
    const slow = setTimeout(() => chart.setAttribute("aria-busy", "true"), 200);
    try {
      const answer = await fetch(slider.dataset.partUrl + query(place), { signal });
      // Signed out meanwhile, or refused: the page itself says so.
      if (!answer.ok || answer.redirected) return location.assign(location.pathname + query(place));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (signal.aborted) return;
      put(page);
      history.replaceState(null, "", location.pathname + query(place));
      range.setAttribute("aria-valuetext", page.getElementById("release").getAttribute("aria-valuetext"));
      field.value = page.getElementById("as-of").value;
    } catch (error) {
      if (error.name !== "AbortError") failed();
    } finally {
      clearTimeout(slow);
      if (!signal.aborted) chart.removeAttribute("aria-busy");
    }
  }

  function soon(place, pause) {
    clearTimeout(waiting);
    waiting = setTimeout(() => go(place), pause);
  }

  range.addEventListener("input", () => {
    const place = Number(range.value);
    range.setAttribute("aria-valuetext", `Known on ${words[place]}`);
    field.value = place < days.length - 1 ? days[place] : "";
    soon(place, PAUSE);
  });
  range.addEventListener("keydown", (event) => {
    const step = { PageUp: 12, PageDown: -12 }[event.key];
    if (!step) return;
    event.preventDefault();
    range.value = Number(range.value) + step;
    range.dispatchEvent(new Event("input"));
  });
  document.addEventListener("click", (event) => {
    const step = event.target.closest?.("[data-step]")?.dataset.step;
    if (!step || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    range.value = step === "last" ? days.length - 1 : Number(range.value) + Number(step);
    range.dispatchEvent(new Event("input"));
    range.focus();
  });
}

/** Puts all that the server made for another day in place of what stands here. The ground under the chart stays: a thumb is held there. */
function put(page) {
  for (const mine of document.querySelectorAll("[data-part]")) {
    const theirs = page.querySelector(`[data-part="${mine.dataset.part}"]`);
    if (theirs) mine.replaceChildren(...theirs.childNodes);
  }
  const [chart, made] = [document.getElementById("chart"), page.getElementById("chart")];
  const ground = chart.querySelector(":scope > .under");
  for (const child of [...chart.childNodes]) if (child !== ground) child.remove();
  for (const child of [...made.childNodes]) if (!child.classList?.contains("under")) chart.insertBefore(child, ground);
  for (const control of chart.querySelectorAll(".js")) control.hidden = false;
  for (const control of document.querySelectorAll("[data-part] .js")) control.hidden = false;
  for (const table of document.querySelectorAll(".triangle")) table.parentElement.scrollLeft = table.offsetWidth;
  const plot = chart.querySelector("[data-chart]");
  if (plot) read(plot);
  mount();
}

/** Says that nothing was changed, once. */
function failed() {
  const known = document.querySelector('[data-part="known"]');
  const message = document.createElement("p");
  message.className = "message";
  message.setAttribute("role", "alert");
  message.textContent = "The chart could not be loaded. The table below is complete for the day that it names.";
  known.replaceChildren(message);
}

/** Many points: uPlot over the drawing, for it can be zoomed. The table and the readout stay. */
async function mount() {
  const place = document.querySelector("[data-points]");
  if (!place || !window.uPlot) return;
  const { plotMany } = await import("./many.js");
  plotMany(place);
}

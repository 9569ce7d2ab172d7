// A page whose form and links change what it shows: the server's next page is put in place of this one, and the eye stays where it was.

import { read } from "./chart.js";

let asking;

/** Fetches an address of this page and puts its main part in place; where that fails, the browser goes there itself. */
async function go(address, push) {
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  const main = document.querySelector("main");
  const focused = document.activeElement?.id;
  const slow = setTimeout(() => main.querySelector(".figure")?.setAttribute("aria-busy", "true"), 200);
  try {
    const answer = await fetch(address, { signal });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const made = page.querySelector("main");
    if (new URL(answer.url).pathname !== location.pathname || !made) return location.assign(address);
    if (signal.aborted) return;
    main.replaceChildren(...made.childNodes);
    document.title = page.title;
    if (push) history.pushState(null, "", answer.url);
    for (const control of main.querySelectorAll(".js")) control.hidden = false;
    main.querySelectorAll("[data-chart]").forEach(read);
    (main.querySelector(".summary") ?? (focused && document.getElementById(focused)))?.focus({ preventScroll: true });
  } catch (error) {
    if (error.name !== "AbortError") location.assign(address);
  } finally {
    clearTimeout(slow);
  }
}

function send(form) {
  const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ""));
  go(`${form.getAttribute("action")}?${asked}`, true);
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("form[data-live]")) return;
  event.preventDefault();
  send(event.target);
});
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-live]");
  if (form && event.target.matches("[type=checkbox], select")) send(form);
});
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("main a[href]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || to.pathname !== location.pathname || to.hash) return;
  event.preventDefault();
  go(link.href, true);
});
addEventListener("popstate", () => go(location.href, false));

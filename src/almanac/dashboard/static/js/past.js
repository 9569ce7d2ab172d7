// The slider over days of a page that is of one day. The page of another day is the server's; it is put in place of this one,
// all but the slider, whose thumb is being held.

const PAUSE = 150;
const control = document.querySelector("[data-past]");
const range = document.getElementById("past");
if (control && range) follow();

function follow() {
  const { days, words } = JSON.parse(document.getElementById("past-days").textContent);
  const field = document.getElementById("as-of");
  let waiting;
  let asking;

  /** The address of a place; the last is today. */
  function address(place) {
    const asked = new URLSearchParams(location.search);
    for (const name of ["as_of", "page"]) asked.delete(name);
    if (place < days.length - 1) asked.set("as_of", days[place]);
    const text = asked.toString().replaceAll("%3A", ":").replaceAll("%2C", ",");
    return location.pathname + (text ? `?${text}` : "");
  }

  async function go(to) {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    const main = control.parentElement;
    const slow = setTimeout(() => main.setAttribute("aria-busy", "true"), 200);
    try {
      const answer = await fetch(to, { signal });
      // Signed out meanwhile, or refused: the page itself says so.
      if (!answer.ok || answer.redirected) return location.assign(to);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const theirs = page.querySelector("[data-past]");
      if (signal.aborted) return;
      if (!theirs) return location.assign(to);
      put(main, theirs);
      history.replaceState(null, "", to);
    } catch (error) {
      if (error.name !== "AbortError") location.assign(to);
    } finally {
      clearTimeout(slow);
      if (!signal.aborted) main.removeAttribute("aria-busy");
    }
  }

  range.addEventListener("input", () => {
    const place = Number(range.value);
    range.setAttribute("aria-valuetext", place < days.length - 1 ? `Known on ${words[place]}` : "Known today");
    field.value = place < days.length - 1 ? days[place] : "";
    clearTimeout(waiting);
    waiting = setTimeout(() => go(address(place)), PAUSE);
  });
  range.addEventListener("keydown", (event) => {
    const step = { PageUp: 12, PageDown: -12 }[event.key];
    if (!step) return;
    event.preventDefault();
    range.value = Number(range.value) + step;
    range.dispatchEvent(new Event("input"));
  });
}

/** Puts what stands before and behind another page's control in place of what stands before and behind ours. */
function put(main, theirs) {
  const kept = main.querySelector(':scope > [role="status"]');
  for (const child of [...main.childNodes]) if (child !== control && child !== kept) child.remove();
  let before = true;
  for (const child of [...theirs.parentElement.childNodes]) {
    if (child === theirs) before = false;
    else if (before) main.insertBefore(child, control);
    else main.insertBefore(child, kept);
  }
  control.querySelector("[data-steps]").replaceChildren(...theirs.querySelector("[data-steps]").childNodes);
  for (const one of main.querySelectorAll(".js")) one.hidden = false;
}

// What every page has. A page is whole without it: this adds keys, copying and what else is no data.

import { suggest } from "./combobox.js";

for (const control of document.querySelectorAll(".js")) control.hidden = false;

// Said to those who do not see a button change.
const status = document.createElement("p");
status.className = "hidden";
status.setAttribute("role", "status");
document.querySelector("main")?.append(status);

const search = document.querySelector("[data-suggest]");
if (search) {
  suggest(search);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input, select, textarea, [contenteditable]")) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
}

// The menu of a narrow screen lies over the page: it goes as it came.
const menu = document.querySelector("details.menu");
menu?.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !menu.open) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});

// Times are UTC; the reader's own stand below, with the name of their zone.
for (const time of document.querySelectorAll("time[data-clock]")) {
  const at = new Date(time.dateTime);
  if (at.getTimezoneOffset() === 0) continue;
  const own = at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
  const other = at.getDate() !== at.getUTCDate();
  const line = document.createElement("small");
  line.textContent = other ? `${at.toLocaleDateString("en-GB", { weekday: "short" })} ${own}` : own;
  time.title = `${time.textContent} UTC`;
  time.after(line);
}

const printed = document.querySelector("[data-printed]");
addEventListener("beforeprint", () => {
  if (!printed) return;
  const now = new Date().toISOString();
  printed.textContent = `printed ${now.slice(0, 10)}, ${now.slice(11, 16)} UTC`;
});

const plots = document.querySelectorAll("[data-chart]");
if (plots.length) {
  const { read } = await import("./chart.js");
  plots.forEach(read);
}

document.querySelector(".summary")?.focus();

// The newest releases are at the right.
for (const table of document.querySelectorAll(".triangle")) table.parentElement.scrollLeft = table.offsetWidth;

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button");
  if (button?.dataset.copy) copy(button);
  else if (button?.dataset.reveal) reveal(button);
  else if (button?.dataset.png) picture(button);
});

/** Changes the words of a button for two seconds; what follows them for readers stays. */
function tell(button, words) {
  const text = button.firstChild;
  button.dataset.words ??= text.data;
  text.data = status.textContent = words;
  clearTimeout(button.telling);
  button.telling = setTimeout(() => {
    text.data = button.dataset.words;
    status.textContent = "";
  }, 2000);
}

/** Copies a text. Where a browser refuses (plain HTTP, or its settings), the text is selected instead. */
async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent);
    tell(button, "Copied");
  } catch {
    getSelection().selectAllChildren(source);
    tell(button, /Mac|iPhone|iPad/.test(navigator.userAgent) ? "Press ⌘C" : "Press Ctrl+C");
  }
}

async function picture(button) {
  const { savePng } = await import("./png.js");
  await savePng(button.dataset.png).then(
    () => tell(button, "Saved"),
    () => tell(button, "Cannot be drawn"),
  );
}

function reveal(button) {
  const field = document.getElementById(button.dataset.reveal);
  const [from, to, type] = field.type === "password" ? ["Show", "Hide", "text"] : ["Hide", "Show", "password"];
  field.type = type;
  button.textContent = to;
  button.setAttribute("aria-label", button.getAttribute("aria-label").replace(from, to));
}

// A form is sent once: its button keeps its width and says what is done (`data-busy`).
const busy = [];
document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (!button?.dataset.busy || event.defaultPrevented) return;
  if (button.getAttribute("aria-disabled") === "true") {
    event.preventDefault();
    return;
  }
  busy.push([button, button.textContent]);
  button.style.width = `${button.offsetWidth}px`;
  button.setAttribute("aria-disabled", "true");
  button.textContent = button.dataset.busy;
});
// Back from the next page a browser may show this one as it was left.
addEventListener("pageshow", () => {
  for (const [button, words] of busy.splice(0)) {
    button.removeAttribute("aria-disabled");
    button.style.width = "";
    button.textContent = words;
  }
});

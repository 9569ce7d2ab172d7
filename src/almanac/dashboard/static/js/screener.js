// The builder of a filter: what passes is told while rows change, and rows and text follow each other. Without it all goes by GET.

const PAUSE = 250;
const form = document.querySelector("[data-screener]");
const rows = form?.querySelector("[data-rows]");
const text = form?.elements.namedItem("filter");
const total = form?.querySelector("[data-total]");

let waiting;
let asking;

/** The controls of a row, and where it says things. */
function parts(row) {
  const [field, operator] = row.querySelectorAll("select");
  return { field, operator, value: row.querySelector("input"), count: row.querySelector("output") };
}

/** Chooses in a list; what it does not have is added, so that no clause is lost. */
function choose(list, value) {
  if (![...list.options].some((option) => option.value === value && !option.disabled)) list.add(new Option(value, value));
  list.value = value;
}

/** Puts a clause of the answer into a row. */
function fill(row, { field, operator, value }) {
  const at = parts(row);
  choose(at.field, field);
  choose(at.operator, operator);
  at.value.value = value;
}

/** A row more, like the last one and empty. */
function add() {
  const last = rows.lastElementChild;
  const number = rows.children.length + 1;
  const row = last.cloneNode(true);
  row.setAttribute("aria-label", `Filter ${number}`);
  for (const control of row.querySelectorAll("[name]")) {
    if (control.name === "remove") control.remove();
    else control.name = control.name.replace(/\d+$/, number);
  }
  row.querySelectorAll(".message, .with .note").forEach((one) => one.remove());
  row.classList.remove("wrong");
  parts(row).count.textContent = "";
  rows.append(row);
  fill(row, { field: "", operator: "gte", value: "" });
  return row;
}

/** What the answer says of a row: its count, a fraction as its percentage, or what is wrong. */
function tell(row, said) {
  const { value, count, field } = parts(row);
  row.classList.toggle("wrong", Boolean(said?.error));
  row.querySelector(".message")?.remove();
  value.parentElement.querySelector(".note")?.remove();
  count.textContent = said?.error || said?.said || "";
  field.toggleAttribute("aria-invalid", Boolean(said?.error));
  if (said?.aside) {
    const aside = document.createElement("span");
    aside.className = "note";
    aside.textContent = said.aside;
    value.after(aside);
  }
}

async function ask(byText) {
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  const sent = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (byText ? !/^(field|operator|value)\d+$|^was$/.test(name) : name !== "filter" && name !== "was") sent.set(name, value);
  }
  total.textContent = "…";
  try {
    const answer = await fetch(`${form.dataset.screener}?${sent}`, { signal });
    if (!answer.ok) throw new Error(answer.statusText);
    const found = await answer.json();
    if (!signal.aborted) show(found, byText);
  } catch {
    // The count is a help: Apply serves without it.
    if (!signal.aborted) total.textContent = "";
  }
}

function show(found, byText) {
  // Clauses stand in the order of the rows that are whole.
  let all = [...rows.children];
  if (byText) {
    while (all.length < found.rows.length + 1) all.push(add());
    all.forEach((row, index) => fill(row, found.rows[index] ?? { field: "", operator: "gte", value: "" }));
  } else {
    text.value = found.filter;
    form.elements.namedItem("was").value = found.filter;
  }
  all = byText ? all : all.filter((row) => parts(row).value.value.trim());
  for (const row of rows.children) tell(row, null);
  all.forEach((row, index) => found.rows[index] && tell(row, found.rows[index]));
  total.textContent = found.error ?? found.words;
}

if (form) {
  form.addEventListener("input", (event) => {
    const byText = event.target === text;
    clearTimeout(waiting);
    waiting = setTimeout(() => ask(byText), PAUSE);
  });
  form.addEventListener("click", (event) => {
    if (event.target.closest("button")?.name !== "add") return;
    event.preventDefault();
    parts(add()).field.focus();
  });
}

// Suggestions below a search field. What was typed is never replaced; without a chosen one, Enter searches as ever.

const MOST = 8;
const PAUSE = 150;

/**
 * Makes a search field a combobox. `data-suggest` is the address that answers `?q=` with
 * `[{"title", "kind", "href"}, …]`; addresses are of this dashboard.
 */
export function suggest(field) {
  const list = document.createElement("ul");
  list.className = "suggestions";
  list.id = `${field.id}-suggestions`;
  list.hidden = true;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  const status = document.createElement("span");
  status.className = "hidden";
  status.setAttribute("role", "status");
  field.after(list, status);
  for (const [name, value] of [
    ["role", "combobox"],
    ["aria-autocomplete", "list"],
    ["aria-controls", list.id],
    ["aria-expanded", "false"],
  ]) field.setAttribute(name, value);

  let chosen = -1;
  let waiting;
  let asking;

  function choose(index) {
    chosen = index;
    [...list.children].forEach((option, place) => option.setAttribute("aria-selected", String(place === index)));
    if (index < 0) field.removeAttribute("aria-activedescendant");
    else field.setAttribute("aria-activedescendant", list.children[index].id);
  }

  function show(found) {
    list.replaceChildren(...found.map(option));
    list.hidden = !found.length;
    field.setAttribute("aria-expanded", String(!list.hidden));
    status.textContent = found.length ? `${found.length} suggestion${found.length === 1 ? "" : "s"}` : "";
    choose(-1);
  }

  function option({ title, kind, href }, index) {
    const item = document.createElement("li");
    item.id = `${list.id}-${index}`;
    item.setAttribute("role", "option");
    item.dataset.href = href;
    const name = document.createElement("span");
    name.textContent = title;
    item.append(name);
    if (kind) {
      const beside = document.createElement("small");
      beside.textContent = kind;
      item.append(" ", beside);
    }
    return item;
  }

  function close() {
    clearTimeout(waiting);
    asking?.abort();
    show([]);
  }

  async function ask() {
    asking?.abort();
    asking = new AbortController();
    const { signal } = asking;
    try {
      const answer = await fetch(`${field.dataset.suggest}?q=${encodeURIComponent(field.value.trim())}`, { signal });
      const found = answer.ok ? await answer.json() : [];
      if (!signal.aborted) show(found.filter(({ href }) => /^\/(?![/\\])/.test(href)).slice(0, MOST));
    } catch {
      // Suggestions are a help: without them the results page serves.
      if (!signal.aborted) show([]);
    }
  }

  field.addEventListener("input", () => {
    clearTimeout(waiting);
    if (field.value.trim().length < 2) close();
    else waiting = setTimeout(ask, PAUSE);
  });
  field.addEventListener("keydown", (event) => {
    const count = list.children.length;
    if (list.hidden || event.isComposing) return;
    if (event.key === "ArrowDown") choose(chosen + 1 < count ? chosen + 1 : -1);
    else if (event.key === "ArrowUp") choose(chosen < 0 ? count - 1 : chosen - 1);
    else if (event.key === "Escape") close();
    else if (event.key === "Enter" && chosen >= 0) location.assign(list.children[chosen].dataset.href);
    else return;
    event.preventDefault();
  });
  field.addEventListener("blur", close);
  // The field keeps the focus, or the list would close before the click.
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const item = event.target.closest("li");
    if (item) location.assign(item.dataset.href);
  });
}

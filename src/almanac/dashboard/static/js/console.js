// The API reference in Swagger UI (vendored): GET alone, nothing is checked elsewhere, and no key is kept.

const place = document.getElementById("swagger");

// The parts of Swagger UI's own layout without its <main>, for this page has one.
const layout = ({ React }) => ({
  components: {
    PlainLayout: ({ getComponent }) => {
      React.useEffect(name);
      const part = (title) => React.createElement(getComponent(title, title !== "SvgAssets"));
      const row = (style, ...parts) =>
        React.createElement("div", { className: style }, React.createElement("section", { className: "wrapper" }, ...parts));
      const servers = React.createElement("div", { className: "schemes-server-container" }, part("ServersContainer"));
      return React.createElement(
        "div",
        { className: "swagger-ui" },
        part("SvgAssets"),
        part("errors"),
        row("information-container", part("InfoContainer")),
        row("scheme-container", servers, part("AuthorizeBtnContainer")),
        row("", part("operations")),
      );
    },
  },
});

// What it leaves without a name; and its title, which is not the page's.
function name() {
  place.querySelector("#servers")?.setAttribute("aria-label", "Server");
  place.querySelector(".info .title")?.setAttribute("aria-level", "2");
}

// The same inside operations, as they open: fields without a name, and samples that only a mouse could scroll.
function nameInside() {
  for (const row of place.querySelectorAll("tr[data-param-name]")) {
    for (const field of row.querySelectorAll("input, select, textarea")) field.setAttribute("aria-label", row.dataset.paramName);
  }
  for (const table of place.querySelectorAll(".opblock table[role=region]")) {
    const path = table.closest(".opblock").querySelector("[data-path]")?.dataset.path;
    const kind = table.classList.contains("live-responses-table") ? "Answer" : "Responses";
    table.setAttribute("aria-label", `${kind} of ${path}`);
  }
  for (const sample of place.querySelectorAll(".opblock pre:not([tabindex])")) {
    sample.tabIndex = 0;
    sample.setAttribute("role", "group");
    sample.setAttribute("aria-label", sample.classList.contains("curl") ? "Command" : "Sample");
  }
}

// It draws again and again: once for all that it drew before the next picture.
let waiting = false;
new MutationObserver(() => {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    nameInside();
  });
}).observe(place, { childList: true, subtree: true });

try {
  const answer = await fetch(place.dataset.document);
  if (!answer.ok) throw new Error(answer.statusText);
  const spec = await answer.json();
  // A HEAD is a GET without its body, and would say all of it twice.
  for (const path of Object.values(spec.paths)) delete path.head;
  spec.servers = [{ url: place.dataset.api }];
  const sends = place.dataset.sends === "yes";
  // Where nothing is sent, nobody is asked for a key.
  if (!sends) {
    delete spec.security;
    delete spec.components.securitySchemes;
  }
  place.replaceChildren();
  window.SwaggerUIBundle({
    spec,
    domNode: place,
    supportedSubmitMethods: sends ? ["get"] : [],
    validatorUrl: null,
    persistAuthorization: false,
    queryConfigEnabled: false,
    docExpansion: "list",
    plugins: [layout],
    layout: "PlainLayout",
  });
} catch {
  place.textContent = "The reference could not be loaded. The list without script has all of it.";
}

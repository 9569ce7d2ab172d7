// The API reference in Swagger UI (vendored): GET alone, nothing is checked elsewhere, and no key is kept.

const place = document.getElementById("swagger");

try {
  const answer = await fetch(place.dataset.document);
  if (!answer.ok) throw new Error(answer.statusText);
  const spec = await answer.json();
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
    defaultModelsExpandDepth: -1,
  });
} catch {
  place.textContent = "The reference could not be loaded. The list without script has all of it.";
}

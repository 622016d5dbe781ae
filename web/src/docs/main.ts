// The description of the API, drawn from /api/v1/openapi.json by Swagger UI: a page of its own, without the
// application. What is tried here is sent with the session of whoever is signed in, or with the token that they give.
import "swagger-ui-dist/swagger-ui.css";
import "./docs.css";
import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";

const root = document.documentElement;
/** Swagger UI's colours go by a class; ours by the attribute that theme.js sets, or the system's scheme. */
const follow = () => root.classList.toggle("dark-mode", root.dataset.mantineColorScheme === "dark");
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", ({ matches }) => {
  root.dataset.mantineColorScheme = matches ? "dark" : "light";
  follow();
});
follow();

/** Swagger UI's own faults for those who do not see or point: a link within a button, inputs without a name, examples
 * that the keyboard cannot scroll. */
function mend(viewer: Element) {
  for (const link of viewer.querySelectorAll("button a[href]")) link.removeAttribute("href"); // the button opens it
  for (const input of viewer.querySelectorAll("select:not([aria-label])")) {
    const parameter = input.closest<HTMLElement>("[data-param-name]")?.dataset.paramName;
    input.setAttribute("aria-label", parameter ?? (input.id === "servers" ? "Server" : "Media type"));
  }
  for (const example of viewer.querySelectorAll("pre.microlight:not([tabindex])"))
    example.setAttribute("tabindex", "0");
}
const viewer = document.querySelector("#viewer");
if (viewer) new MutationObserver(() => mend(viewer)).observe(viewer, { childList: true, subtree: true });

type System = {
  React: { createElement: (component: unknown, props: unknown) => unknown };
  getComponent: (name: string) => unknown;
};

/** Swagger UI looks for an input of its own for lists of ids, and complains that there is none but that of text. */
const idsAreText = (system: System) => ({
  components: {
    // biome-ignore lint/correctness/noComponentHookFactories: Swagger UI hands its React to a plugin, once
    JsonSchema_string_uuid: (props: unknown) =>
      system.React.createElement(system.getComponent("JsonSchema_string"), props),
  },
});

SwaggerUI({
  plugins: [idsAreText],
  url: "/api/v1/openapi.json",
  dom_id: "#viewer",
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  deepLinking: true,
  filter: true,
  showExtensions: true, // x-role, x-scope and x-problem-codes say who may call, and what may come back
  validatorUrl: null, // which would send the address of the description to another host
});

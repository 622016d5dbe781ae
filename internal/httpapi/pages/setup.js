import { $, annotate, call, element, explainPlainHTTP, keepsSessions, submitting } from "./muster.js";

// The token comes in the fragment, which no server and no log ever sees, and
// leaves the address bar at once.
const setupToken = location.hash.slice(1).replace(/^token=/, "");
history.replaceState(null, "", location.pathname);

const { required } = await call("GET", "/api/v1/setup").catch(() => ({ required: true }));
$("main").removeAttribute("aria-busy");
if (!required) {
  $("setup-note").replaceChildren("There is an administrator already. ", element("a", { href: "/" }, "Sign in"), " instead.");
} else if (!keepsSessions) { // the link stays good
  explainPlainHTTP($("setup-note"));
} else if (!setupToken) {
  annotate($("setup-note"), "Open the whole one-time link that Muster printed, or make another one with `muster setup-link`.");
} else {
  $("setup-form").hidden = false;
  $("organizationName").focus();
}

const field = (id) => $(id).value;
submitting($("setup-form"), () => ({
  "#/organizationName": $("organizationName"), "#/name": $("name"), "#/email": $("email"), "#/password": $("password"),
}), async () => {
  await call("POST", "/api/v1/setup", {
    setupToken, email: field("email"), name: field("name"), password: field("password"),
    organizationName: field("organizationName"), demo: $("demo").checked,
  });
  location.assign("/");
});

import { $, call, explainPlainHTTP, keepsSessions, submitting } from "./muster.js";

const token = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
$("main").removeAttribute("aria-busy");
if (!keepsSessions) { // the link stays good
  explainPlainHTTP($("invitation-note"));
} else if (token) {
  $("invitation-form").hidden = false;
  $("name").focus();
} else {
  $("invitation-note").textContent = "Open the whole link of the invitation.";
}

submitting($("invitation-form"), () => ({ "#/name": $("name"), "#/password": $("password") }), async () => {
  await call("POST", `/api/v1/invitations/${encodeURIComponent(token)}`, { name: $("name").value, password: $("password").value });
  location.assign("/");
});

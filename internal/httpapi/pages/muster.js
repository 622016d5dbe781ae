// What every page shares: talking to the API, signing in, the banner.

export const $ = (id) => document.getElementById(id);

// element makes a DOM node; text is always text, never markup.
export function element(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

// Problem is a refusal as the API words it (RFC 9457).
export class Problem extends Error {
  constructor(body, response) {
    super(body.detail || body.title || `The server answered ${response.status}.`);
    this.body = body;
    this.status = response.status;
    this.retryAfter = Number(response.headers.get("Retry-After")) || 0;
  }
}

export async function call(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method, cache: "no-cache", credentials: "same-origin",
      headers: { Accept: "application/json", ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Problem({ detail: "The server cannot be reached.", code: "offline" }, { status: 0, headers: new Headers() });
  }
  if (response.headers.get("X-Demo-Data") === "true") banner("Demo organization: what you see is made up, but for the private PostgreSQL.");
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(answer, response);
  return answer;
}

export function banner(text, red = false) {
  $("banner").textContent = text;
  $("banner").classList.toggle("red", red);
  $("banner").hidden = false;
}

let said;

// say tells what just changed, to the eye for a while and to a screen reader.
export function say(text) {
  clearTimeout(said);
  $("live").textContent = text;
  said = setTimeout(() => { $("live").textContent = ""; }, 8000);
}

const sentence = (clause) => `${clause.charAt(0).toUpperCase()}${clause.slice(1).replace(/\.$/, "")}.`;

// annotate writes a text in which commands stand between backticks.
export function annotate(node, text) {
  node.replaceChildren(...text.split("`").map((part, i) => (i % 2 ? element("code", {}, part) : part)));
}

// complain shows a problem in the form: its sentence, each field's, the request id.
export function complain(form, problem, fields = {}) {
  const box = form.querySelector(".error");
  box.id ||= `${form.id}-error`;
  for (const input of form.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
  const errors = problem.body?.errors ?? [];
  const inputOf = (e) => fields[e.pointer] ?? fields[Object.keys(fields).find((p) => e.pointer?.startsWith(p + "/"))];
  const nameOf = (e) => inputOf(e)?.labels?.[0]?.textContent ?? (e.pointer ?? e.parameter ?? "").replace("#/", "");
  if (errors.length === 1) { // some details are what is said of the field, some a sentence of their own
    const { detail } = errors[0];
    box.replaceChildren(sentence(/^(is|must|does|cannot) /.test(detail) ? `${nameOf(errors[0])} ${detail}` : detail));
  } else {
    box.replaceChildren(errors.length ? "Some of this is not right yet." : problem.message);
    if (errors.length) box.append(element("ul", {}, ...errors.map((e) => element("li", {}, `${nameOf(e)}: ${e.detail}`))));
  }
  if (problem.body?.requestId) box.append(element("small", {}, `Request ${problem.body.requestId}`));
  box.hidden = false;
  let first = true;
  for (const e of errors) {
    const input = inputOf(e);
    if (!input) continue;
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-errormessage", box.id);
    if (first) input.focus();
    first = false;
  }
}

// submitting runs work once at a time and shows its refusal in the form.
export function submitting(form, fields, work) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button[type=submit]");
    if (button.disabled) return;
    button.disabled = true;
    form.querySelector(".error").hidden = true;
    try {
      await work();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      complain(form, problem, fields());
    } finally {
      button.disabled = false;
    }
  });
}

// keepsSessions says that the browser will keep the session of a sign-in here. Its
// cookie is a __Host- one and Secure: from plain HTTP a browser drops that without
// a word, unless the host is its own machine, and the sign-in comes back for ever.
export const keepsSessions = window.isSecureContext || "plainHttp" in document.body.dataset;

// explainPlainHTTP says so before anybody types a password.
export function explainPlainHTTP(note) {
  const code = (text) => element("code", {}, text);
  note.className = "error";
  note.replaceChildren(
    element("p", {}, "You cannot sign in at this address: it is plain HTTP, and a browser keeps no session from there. Open Muster at its ", code("https://"), " address."),
    element("p", {}, "Is there none? Whoever runs Muster can put a proxy with a certificate in front of it. Or they set ",
      code(`MUSTER_PUBLIC_URL=${location.origin}`), " and ", code("MUSTER_INSECURE_COOKIES=true"),
      ": then it works here, and passwords and sessions cross the network unencrypted."));
}

// start shows the page to whoever is signed in, and the sign-in form to others.
export async function start(show) {
  const main = $("main");
  let session;
  try {
    session = await call("GET", "/api/v1/session");
  } catch (problem) {
    banner(problem.message, true);
    main.removeAttribute("aria-busy");
    return;
  }
  main.removeAttribute("aria-busy");
  const refused = refusal(); // of no interest to whoever is signed in all the same
  if (!session.authenticated) return signIn(session, show, refused);
  $("sign-in").hidden = true;
  $("content").hidden = false;
  $("nav").hidden = false;
  $("who").hidden = false;
  $("who-name").textContent = `${session.member.name} · ${session.organization.name}`;
  $("sign-out").addEventListener("click", async () => { await call("DELETE", "/api/v1/session").catch(() => {}); location.assign("/"); });
  await show(session, (permission) => session.permissions.includes(permission));
}

// Why the identity provider could not sign somebody in: the reasons of /?signIn=failed.
const refusals = {
  no_account: "You are signed in there, but no account here is open to you. Ask an administrator of your organization for one, or to look in the audit list why yours does not open.",
  email_not_verified: "The identity provider does not say that your e-mail address is verified, so no account here can be found by it. Ask whoever runs the provider.",
  provider_unavailable: "The identity provider does not answer as it should. Try again in a moment; where it stays like this, tell an administrator.",
  provider_error: "The identity provider refuses to sign you in here. Tell an administrator: the log has its reason.",
  denied: "The sign-in was cancelled at the identity provider.",
  flow_expired: "That sign-in had ended, or was begun in another browser. Start again.",
  flow_mismatch: "That was the end of another sign-in than the one that you began here. Start again.",
  code_refused: "That sign-in was used already. Start again.",
  token_refused: "The identity provider's answer could not be trusted. Tell an administrator: the log has the reason.",
  throttled: "Too many sign-ins from your network came to nothing. Try again in a few minutes.",
};

// refusal takes why the last sign-in came to nothing out of the address.
function refusal() {
  const url = new URLSearchParams(location.search);
  if (url.get("signIn") !== "failed") return "";
  const reason = url.get("reason");
  url.delete("signIn");
  url.delete("reason");
  history.replaceState(null, "", `${location.pathname}${url.size ? `?${url}` : ""}${location.hash}`);
  return Object.hasOwn(refusals, reason) ? refusals[reason] : "The sign-in failed. Start again.";
}

// longestReturn is what the server takes of an address to come back to.
const longestReturn = 2000;

function offer(providers) {
  const here = location.pathname + location.search;
  const query = new URLSearchParams({ returnTo: here.length <= longestReturn ? here : location.pathname });
  $("providers").replaceChildren(...providers.map((provider) =>
    element("a", { className: "button", href: `${provider.startUrl}?${query}` }, `Sign in with ${provider.name}`)));
  $("providers").hidden = providers.length === 0;
}

function signIn(session, show, refused) {
  $("sign-in").hidden = false;
  $("sign-in-refused").textContent = refused;
  $("sign-in-refused").hidden = !refused;
  if (session.setupRequired) {
    annotate($("sign-in-note"), "Nobody is set up yet. Open the one-time link that `muster serve` printed, or make one with `muster setup-link`.");
    $("sign-in-form").hidden = true;
    return;
  }
  offer(session.providers);
  if (!keepsSessions) {
    explainPlainHTTP($("sign-in-note"));
    $("sign-in-form").hidden = true;
    $("providers").hidden = true;
    return;
  }
  $("email").focus();
  submitting($("sign-in-form"), () => ({ "#/email": $("email"), "#/password": $("password") }), async () => {
    await call("POST", "/api/v1/session", { email: $("email").value, password: $("password").value });
    $("password").value = "";
    if (!(await call("GET", "/api/v1/session")).authenticated) {
      throw new Problem({ detail: "The password is right, but the browser did not keep the session. Allow cookies for this address, and where it begins with http:// use https://." }, { status: 0, headers: new Headers() });
    }
    await start(show);
    $("main").focus();
  });
}

const time = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

// when is an instant in the reader's zone, with the exact one as a tooltip.
export function when(iso) {
  return element("time", { dateTime: iso, title: iso }, time.format(new Date(iso)));
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

const engines = { postgresql: "PostgreSQL", sqlserver: "SQL Server", oracle: "Oracle", mongodb: "MongoDB", mysql: "MySQL family" };

export const engineName = (instance) => engines[instance.engine] ?? instance.engine;

const looks = { Queued: "busy", Building: "busy", Ready: "good", Failed: "bad", Expired: "" };

export function status(report) {
  const nodes = [element("span", { className: `status ${looks[report.status] ?? ""}` }, report.status === "Building" ? "Processing" : report.status)];
  if (report.progress) nodes.push(element("small", {}, `Step ${report.progress.step} of ${report.progress.totalSteps}: ${report.progress.label}`));
  if (report.error) nodes.push(element("small", { className: "reason" }, `${report.error.message} (${report.error.code})`));
  if (report.status === "Ready" && report.expiresAt) {
    const days = Math.ceil((new Date(report.expiresAt) - Date.now()) / 86400000);
    nodes.push(element("small", {}, days > 1 ? `expires in ${days} days` : "expires within a day"));
  }
  return nodes;
}

export function downloadLink(report) {
  if (!report.downloadUrl) return null;
  return element("a", { className: "button small", href: report.downloadUrl, download: report.file.name,
    title: `${report.file.name}, ${size(report.file.sizeBytes)}`, "aria-label": `Download ${report.file.name}` }, "Download");
}

export const running = (report) => report.status === "Queued" || report.status === "Building";

// polling looks again every 5 s while needed() and the page is seen; after
// refusals it waits longer, up to a minute, or as long as the server asks.
export function polling(look, needed) {
  let timer, failures = 0, wait = 0;
  const next = () => {
    clearTimeout(timer);
    if (document.hidden || (!needed() && failures === 0)) return;
    timer = setTimeout(run, wait || Math.min(60, 5 * 2 ** failures) * 1000);
  };
  const run = async () => {
    clearTimeout(timer);
    wait = 0;
    try {
      await look();
      failures = 0;
    } catch (problem) {
      if (problem.status === 401) { location.reload(); return; }
      failures += 1;
      wait = (problem.retryAfter ?? 0) * 1000;
    }
    next();
  };
  document.addEventListener("visibilitychange", () => { if (!document.hidden && needed()) run(); });
  return run;
}

// pager draws "1–20 of 57" with its buttons.
export function pager(page, turn) {
  if (page.totalPages < 2) return [];
  const button = (text, to, off) => element("button", { type: "button", disabled: off, onclick: () => turn(to) }, text);
  return [element("span", {}, `Page ${page.number} of ${page.totalPages} · ${page.totalItems} in all`),
    button("Newer", page.number - 1, page.number <= 1), button("Older", page.number + 1, page.number >= page.totalPages)];
}

import { $, call, downloadLink, element, engineName, pager, polling, running, say, start, status, submitting, when } from "./muster.js";

const maxRecipients = 20;
const state = { kind: "Security", page: 1, rows: [], instances: [], chosen: new Set(), last: new Map() };
let look = async () => {};

start(async (session, may) => {
  const url = new URLSearchParams(location.search);
  if (["Security", "InstanceScorecard", "DataInventory"].includes(url.get("kind"))) state.kind = url.get("kind");
  state.page = Math.max(1, Number.parseInt(url.get("page") ?? "1", 10) || 1);
  tabs();
  look = polling(load, () => state.rows.some(running));
  if (may("reports:create")) await form(session);
  await look();
});

function tabs() {
  for (const tab of $("tabs").children) {
    tab.setAttribute("aria-pressed", String(tab.dataset.kind === state.kind));
    tab.onclick = () => turn(tab.dataset.kind, 1);
  }
}

async function turn(kind, page) {
  Object.assign(state, { kind, page });
  const url = new URLSearchParams({ kind, ...(page > 1 ? { page } : {}) });
  history.replaceState(null, "", `/?${url}`);
  tabs();
  await look();
}

async function load() {
  const answer = await call("GET", `/api/v1/reports?kind=${state.kind}&page=${state.page}`);
  state.rows = answer.items;
  for (const row of answer.items) {
    const before = state.last.get(row.id);
    if (before && before !== row.status) say(`${row.scopeLabel}: ${row.status}`);
    state.last.set(row.id, row.status);
  }
  draw(answer);
}

function draw(answer) {
  const focused = document.activeElement?.getAttribute?.("href");
  $("history").replaceChildren(...answer.items.map((row) => element("tr", {},
    element("td", {}, row.scopeLabel || "…", row.file ? element("small", {}, `${row.file.pages} pages`) : null),
    element("td", {}, ...status(row)),
    element("td", {}, when(row.createdAt)),
    element("td", {}, row.requester.name || "a former member"),
    element("td", { className: "number" }, String(row.recipientCount)),
    element("td", {}, downloadLink(row)))));
  if (answer.items.length === 0) {
    $("history").append(element("tr", {}, element("td", { className: "empty", colSpan: 6 }, "No report of this kind yet.")));
  }
  $("pager").replaceChildren(...pager(answer.page, (page) => turn(state.kind, page)));
  if (focused) document.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
}

async function form(session) {
  $("request").hidden = false;
  const [instances, members] = await Promise.all([
    call("GET", "/api/v1/instances?pageSize=200&sort=name"), call("GET", "/api/v1/members?pageSize=200")]);
  state.instances = instances.items;
  $("recipients").replaceChildren(...[
    option("checkbox", "recipient", session.member.id, session.member.name, "you, always", { checked: true, disabled: true }),
    ...members.items.filter((m) => m.id !== session.member.id && m.status !== "disabled")
      .map((m) => option("checkbox", "recipient", m.id, m.name, m.email))]);
  $("recipients").addEventListener("change", count);
  for (const radio of document.querySelectorAll("input[name=kind]")) radio.addEventListener("change", kindChanged);
  $("instances").addEventListener("change", chosen);
  $("instances-search").addEventListener("input", instanceOptions);
  $("range").addEventListener("change", () => { $("custom").hidden = $("range").value !== "custom"; });
  kindChanged();
  count();
  submitting($("request-form"), () => ({
    "#/scope/instanceIds": $("instances"), "#/scope/from": $("from"), "#/scope/to": $("to"),
    "#/scope/databaseId": $("database"), "#/recipientIds": $("recipients"),
  }), request);
}

function option(type, name, value, text, note, properties = {}) {
  return element("label", {}, element("input", { type, name, value, ...properties }), element("span", {}, text, " ", element("small", {}, note ?? "")));
}

const kind = () => document.querySelector("input[name=kind]:checked").value;

function kindChanged() {
  const scorecard = kind() === "InstanceScorecard";
  $("scorecard-fields").hidden = !scorecard;
  if (scorecard && state.chosen.size > 1) state.chosen.clear();
  instanceOptions();
}

function instanceOptions() {
  const one = kind() === "InstanceScorecard";
  const wanted = $("instances-search").value.toLowerCase();
  const shown = state.instances.filter((i) => i.name.toLowerCase().includes(wanted));
  $("instances").replaceChildren(...shown.map((i) => option(one ? "radio" : "checkbox", "instance", i.id, i.name,
    i.active ? engineName(i) : `${engineName(i)}, inactive`, { checked: state.chosen.has(i.id) })));
  if (shown.length === 0) $("instances").append(element("p", {}, state.instances.length ? "None of that name." : "No instance yet: add one under Instances."));
  const n = state.chosen.size;
  $("instances-note").textContent = one ? "choose one" : n ? `${n} of ${state.instances.length}` : "none chosen: all active ones";
}

async function chosen(event) {
  if (event.target.type === "radio") state.chosen.clear();
  if (event.target.checked) state.chosen.add(event.target.value);
  else state.chosen.delete(event.target.value);
  const n = state.chosen.size;
  if (kind() !== "InstanceScorecard") {
    $("instances-note").textContent = n ? `${n} of ${state.instances.length}` : "none chosen: all active ones";
    return;
  }
  const databases = await call("GET", `/api/v1/instances/${event.target.value}/databases?pageSize=200`);
  $("database").replaceChildren(element("option", { value: "" }, "Whole instance"), ...databases.items.map((d) => element("option", { value: d.id }, d.name)));
}

function count() {
  const boxes = [...document.querySelectorAll("input[name=recipient]")];
  const n = boxes.filter((b) => b.checked).length;
  $("recipients-note").textContent = `${n} of ${maxRecipients}`;
  for (const box of boxes.slice(1)) box.disabled = n >= maxRecipients && !box.checked;
}

async function request() {
  const scope = { instanceIds: [...state.chosen] };
  if (kind() === "InstanceScorecard") Object.assign(scope, { databaseId: $("database").value || null, ...span() });
  const recipientIds = [...document.querySelectorAll("input[name=recipient]:checked")].map((b) => b.value);
  const answer = await call("POST", "/api/v1/reports", { kind: kind(), scope, recipientIds });
  const people = `${answer.report.recipientCount} ${answer.report.recipientCount === 1 ? "person" : "people"}`;
  say(answer.reused ? "This report is already being built; you were added to it." : `Queued. ${people} will get a mail.`);
  await turn(kind(), 1);
}

function span() {
  if ($("range").value === "custom") {
    const instant = (id) => ($(id).value ? `${$(id).value}:00Z`.replace(/(:\d\d:\d\d):00Z$/, "$1Z") : null);
    return { from: instant("from"), to: instant("to") };
  }
  const to = new Date();
  return { from: new Date(to - Number($("range").value) * 86400000).toISOString(), to: to.toISOString() };
}

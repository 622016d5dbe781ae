import { $, call, element, engineName, pager, polling, say, start, submitting, when } from "./muster.js";

const state = { page: 1, q: "", items: [], admin: false };

start(async (_session, may) => {
  state.admin = may("admin");
  const look = polling(load, () => state.items.some((i) => i.awaited));
  if (state.admin) {
    $("add").hidden = false;
    submitting($("add-form"), () => ({ "#/name": $("name"), "#/engine": $("engine"), "#/dsn": $("dsn") }), async () => {
      const body = { name: $("name").value, engine: $("engine").value, dsn: $("dsn").value, classify: $("classify").value };
      const added = await call("POST", "/api/v1/instances", body);
      $("add-form").reset();
      say(`${added.name} was added; its first assessment runs.`);
      await look();
    });
  }
  let typing;
  $("search").addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => { Object.assign(state, { q: $("search").value, page: 1 }); look(); }, 250);
  });
  state.look = look;
  await look();
});

async function load() {
  const query = new URLSearchParams({ page: state.page, ...(state.q ? { q: state.q } : {}) });
  const answer = await call("GET", `/api/v1/instances?${query}`);
  state.items = answer.items;
  for (const i of state.items) i.awaited = i.collected && i.active && !i.lastSeenAt && !i.lastError;
  $("list").replaceChildren(...answer.items.map(row));
  if (answer.items.length === 0) {
    $("list").append(element("tr", {}, element("td", { className: "empty", colSpan: 6 }, state.q ? "No server of that name." : "No server yet.")));
  }
  $("pager").replaceChildren(...pager(answer.page, (page) => { state.page = page; state.look(); }));
}

function row(i) {
  const grants = i.missingGrants.length;
  return element("tr", {},
    element("td", {}, element("strong", {}, i.name), i.host ? element("small", {}, i.host) : null),
    element("td", {}, engineName(i), i.version ? element("small", {}, i.version) : null),
    element("td", { className: "number" }, String(i.databaseCount)),
    element("td", {}, i.lastAssessedAt ? when(i.lastAssessedAt) : "never"),
    element("td", {}, standing(i), i.lastError ? element("small", { className: "reason" }, i.lastError) : null,
      grants ? element("small", { title: i.missingGrants.map((g) => g.statement).join("\n") }, `${grants} missing ${grants === 1 ? "grant" : "grants"}`) : null),
    element("td", {}, state.admin && i.collected && i.active ? element("button", { type: "button", className: "quiet small",
      "aria-label": `Assess ${i.name} now`, onclick: (event) => assess(event.target, i) }, "Assess") : null));
}

function standing(i) {
  if (!i.active) return element("span", { className: "status" }, "Inactive");
  if (i.lastError) return element("span", { className: "status bad" }, "Not reached");
  return i.awaited ? element("span", { className: "status busy" }, "First look") : element("span", { className: "status good" }, "Active");
}

async function assess(button, i) {
  button.disabled = true;
  try {
    await call("POST", `/api/v1/instances/${i.id}/assess`);
    say(`${i.name} is being assessed.`);
    button.textContent = "Asked";
  } catch (problem) {
    say(problem.message);
    button.disabled = false;
    button.title = problem.message;
  }
}

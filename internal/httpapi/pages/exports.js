import { $, call, downloadLink, element, polling, running, say, size, start, status, when } from "./muster.js";

const kinds = { Security: "Security report", InstanceScorecard: "Scorecard", DataInventory: "Data inventory" };
const wanted = new URLSearchParams(location.search).get("reportId");
const state = { items: [], older: [], last: new Map() };

start(async () => {
  await polling(load, () => state.items.some(running))();
  const newest = state.items.find((r) => r.status === "Ready");
  if (newest) await call("POST", "/api/v1/exports/seen", { upTo: newest.id }).catch(() => {});
});

async function load() {
  const tray = await call("GET", "/api/v1/exports");
  state.items = tray.items;
  for (const r of tray.items) {
    if (state.last.has(r.id) && state.last.get(r.id) !== r.status) say(`${r.scopeLabel}: ${r.status}`);
    state.last.set(r.id, r.status);
  }
  if (wanted && ![...state.items, ...state.older].some((r) => r.id === wanted)) await fetchWanted();
  draw(tray.nextCursor);
}

// The mail's link may lead to a report that has left the tray: say what became of it.
async function fetchWanted() {
  try {
    const report = await call("GET", `/api/v1/reports/${encodeURIComponent(wanted)}`);
    state.older.unshift(report);
  } catch (problem) {
    $("missing").textContent = problem.status === 404 || problem.status === 400 ? "The report of this link is not in your organization." : problem.message;
    $("missing").hidden = false;
  }
}

function draw(cursor) {
  const all = [...state.older.filter((r) => r.id === wanted), ...state.items, ...state.older.filter((r) => r.id !== wanted)];
  $("tray").replaceChildren(...all.map((r) => element("li", { className: r.id === wanted ? "wanted" : "" },
    element("div", {}, element("strong", {}, kinds[r.kind] ?? r.kind), " · ", r.scopeLabel,
      element("small", {}, "Requested ", when(r.createdAt), r.file ? ` · ${r.file.name} · ${size(r.file.sizeBytes)}` : "")),
    element("span", {}, ...status(r)), downloadLink(r))));
  if (all.length === 0) $("tray").append(element("li", { className: "empty" }, "Nothing here yet."));
  $("pager").replaceChildren(...(cursor ? [element("button", { type: "button", onclick: () => more(cursor) }, "Show older")] : []));
}

async function more(cursor) {
  const tray = await call("GET", `/api/v1/exports?cursor=${encodeURIComponent(cursor)}`);
  state.older.push(...tray.items);
  draw(tray.nextCursor);
}

import { describe, expect, test } from "vitest";
import { activitySearch, alertsSearch, auditSearch, dashboardSearch } from "./schemas";
import { parseSearch, stringifySearch } from "./search";

const a = "0193a1b2-0000-7000-8000-00000000000a";
const b = "0193a1b2-0000-7000-8000-00000000000b";
const read = (query: string) => dashboardSearch(parseSearch(query));
const dropped = (query: string) => dashboardSearch.dropped(parseSearch(query)).map((d) => `${d.name}=${d.value}`);

test.each([
  ["?by=client&top=user&idle=include", { by: "client", top: "user", idle: "include" }, []],
  ["?by=host&top=waitClass&idle=off", {}, ["by=host", "top=waitClass", "idle=off"]],
  [
    "?user=shop&user=bill&client=10.4.1.11&state=cpu&state=asleep",
    { user: ["shop", "bill"], client: ["10.4.1.11"], state: ["cpu"] },
    ["state=asleep"],
  ],
  [
    "?pickedFrom=2026-11-20T00:00:00Z&pickedTo=2026-11-20T00:01:00Z",
    { pickedFrom: "2026-11-20T00:00:00.000Z", pickedTo: "2026-11-20T00:01:00.000Z" },
    [],
  ],
  ["?pickedFrom=2026-11-20T00:00:00Z", {}, ["pickedFrom=2026-11-20T00:00:00Z"]],
  [
    "?pickedFrom=2026-11-20T00:01:00Z&pickedTo=2026-11-20T00:00:00Z",
    {},
    ["pickedFrom=2026-11-20T00:01:00Z", "pickedTo=2026-11-20T00:00:00Z"],
  ],
])("an address of activity, %s, has a dimension that there is, and a bucket with both bounds", (query, want, lost) => {
  expect(activitySearch(parseSearch(query))).toEqual(want);
  const dropped = activitySearch.dropped(parseSearch(query));
  expect(dropped.map((d) => `${d.name}=${d.value}`)).toEqual(lost);
});

describe("an address of the dashboard", () => {
  test.each([
    ["", {}],
    ["?range=7d", { range: "7d" }],
    ["?range=2d&refresh=30s&compare=previous", { range: "2d", refresh: "30s", compare: "previous" }],
    ["?hide=locks&hide=cpuPercent", { hide: ["locks", "cpuPercent"] }],
    ["?hide=", { hide: [] }],
    ["?who=total&whoBy=database", { who: "total", whoBy: "database" }],
    [
      "?who=io&whoFrom=2026-11-20T00:00:00Z&whoTo=2026-11-20T00:01:00Z",
      { who: "io", whoFrom: "2026-11-20T00:00:00.000Z", whoTo: "2026-11-20T00:01:00.000Z" },
    ],
    [`?instanceId=${a}&instanceId=${b}&instanceId=${a}`, { instanceId: [a, b] }],
    [`?instanceId=${a.toUpperCase()}`, { instanceId: [a] }],
    [
      "?from=2026-11-19T06:00:00Z&to=2026-11-20T00:00:00%2B01:00",
      { from: "2026-11-19T06:00:00.000Z", to: "2026-11-19T23:00:00.000Z" },
    ],
  ])("%s is read whole", (query, want) => {
    expect(read(query)).toEqual(want);
    expect(dropped(query)).toEqual(query.includes(`&instanceId=${a}`) ? expect.anything() : []);
  });

  test.each([
    ["?range=2h", {}, ["range=2h"]],
    ["?hide=everything", {}, ["hide=everything"]],
    ["?refresh=1s&compare=year", {}, ["refresh=1s", "compare=year"]],
    ["?hide=locks&hide=latches&hide=io", { hide: ["locks", "io"] }, ["hide=latches"]],
    ["?zone=UTC", {}, ["zone=UTC"]],
    ["?who=io", {}, ["who=io"]],
    ["?whoBy=host", {}, ["whoBy=host"]],
    ["?who=idle&whoTo=2026-11-20T00:00:00Z", { who: "idle" }, ["whoTo=2026-11-20T00:00:00Z"]],
    ["?__proto__=1&constructor=2", {}, ["__proto__=1", "constructor=2"]],
    ["?from=yesterday&to=2026-11-20T00:00:00Z", {}, ["from=yesterday", "to=2026-11-20T00:00:00Z"]],
    ["?from=2026-11-20T00:00:00Z", {}, ["from=2026-11-20T00:00:00Z"]],
    [
      "?from=2026-11-20T00:00:00Z&to=2026-11-19T00:00:00Z",
      {},
      ["from=2026-11-20T00:00:00Z", "to=2026-11-19T00:00:00Z"],
    ],
    [
      "?range=1h&from=2026-11-19T00:00:00Z&to=2026-11-20T00:00:00Z",
      { range: "1h" },
      ["from=2026-11-19T00:00:00Z", "to=2026-11-20T00:00:00Z"],
    ],
  ])("%s loses what cannot be used, and says so", (query, want, lost) => {
    expect(read(query)).toEqual(want);
    expect(dropped(query)).toEqual(lost);
  });

  test("a filter never gets wider when a part is dropped", () => {
    expect(read(`?instanceId=nonsense&instanceId=${a}`).instanceId).toEqual([a]);
    for (const query of ["?instanceId=nonsense", "?instanceId=", "?instanceId=x&instanceId="]) {
      expect(read(query).instanceId, query).toEqual([]);
    }
    expect(read("").instanceId).toBeUndefined();
    expect(dropped("?instanceId=nonsense")).toEqual(["instanceId=nonsense"]);
    expect(dropped("?instanceId=")).toEqual([]);
  });

  test("dropped parts stay out when the router merges the addresses", () => {
    const raw = parseSearch("?range=2h&instanceId=nonsense");
    expect({ ...raw, ...dashboardSearch(raw) }).toEqual({ instanceId: [] });
  });
});

test("an audit's bound may stand alone", () => {
  const raw = parseSearch("?from=2026-11-20T00:00:00Z");
  expect(auditSearch(raw)).toEqual({ from: "2026-11-20T00:00:00.000Z" });
  expect(auditSearch.dropped(raw)).toEqual([]);
});

// A small generator with a fixed seed: another address each time, the same ones each run.
function generator(seed: number) {
  let state = seed;
  const next = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state % below;
  };
  const pick = <T>(...from: T[]): T => from[next(from.length)] as T;
  return { next, pick };
}

test("every written address is read back", () => {
  const { next, pick } = generator(42);
  for (let i = 0; i < 500; i++) {
    const values = {
      ...(next(2) && { range: pick("15m", "1h", "6h", "24h", "7d", "30d") }),
      ...(next(2) && { instanceId: pick([], [a], [b, a]) }),
      ...(next(2) && { status: pick("all", "open", "resolved") }),
      ...(next(2) && { severity: pick([], ["info"], ["warning", "critical"]) }),
      ...(next(2) && { q: pick("a b", "100 %", "x&y=z", "ä+ö", "#?/:", " ") }),
      ...(next(2) && { page: next(1000) + 1 }),
      ...(next(2) && { sort: pick("severity", "-createdAt") }),
    };
    const written = stringifySearch(values);
    const raw = parseSearch(written.slice(1));
    expect(alertsSearch(raw), written).toEqual(values);
    expect(alertsSearch.dropped(raw), written).toEqual([]);
    expect(stringifySearch(alertsSearch(raw)), written).toBe(stringifySearch(alertsSearch(parseSearch(written))));
  }
});

import { expect, test } from "vitest";
import { namesNone, serversOf, windowQuery } from "./query";
import { scopeOf } from "./scope";

const id = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01";

test("the ids and the tags of an address are kept from page to page, and in every request", () => {
  const search = { range: "24h" as const, instanceId: [id], tag: ["env:prod"], q: "orders", page: 3 };
  expect(scopeOf(search)).toEqual({ range: "24h", instanceId: [id], tag: ["env:prod"] });
  const window = { from: "2026-11-20T10:00:00Z", to: "2026-11-20T11:00:00Z", bucketSize: "1m", preset: null } as const;
  expect(windowQuery({ window, servers: serversOf(search) })).toEqual({
    from: window.from,
    to: window.to,
    bucketSize: "1m",
    instanceId: [id],
    tag: ["env:prod"],
  });
});

test("a filter without a readable value matches nothing, whatever the other filter is", () => {
  expect(namesNone({})).toBe(false);
  expect(namesNone({ instanceId: [id], tag: ["env:prod"] })).toBe(false);
  expect(namesNone({ instanceId: [id], tag: [] })).toBe(true);
  expect(namesNone({ instanceId: [], tag: ["env:prod"] })).toBe(true);
});

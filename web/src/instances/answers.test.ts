import { describe, expect, test } from "vitest";
import { isNews, kinOf } from "./answers";

const server = (role: string | null, ...related: [string, string | null][]) => ({
  system: "7",
  role,
  pooler: null,
  movedAt: null,
  sameAs: [],
  related: related.map(([name, role]) => ({ id: name, name, role })),
});

describe("F29", () => {
  test("a standby names its primary, and not the other standbys", () => {
    const kin = kinOf(server("standby", ["a", "primary"], ["b", "standby"]));
    expect([kin?.is, kin?.of.map((one) => one.name)]).toEqual(["standby", ["a"]]);
  });
  test("a primary names its standbys", () => {
    expect(kinOf(server("primary", ["b", "standby"], ["c", "standby"]))).toMatchObject({ is: "primary" });
  });
  test("with two primaries a standby's primary is unknown", () => {
    expect(kinOf(server("standby", ["a", "primary"], ["b", "primary"]))?.is).toBe("copy");
    expect(kinOf(server("primary", ["a", "primary"]))?.is).toBe("copy");
  });
  test("a server without copies has no kin", () => expect(kinOf(server("primary"))).toBeNull());
});

test("C29. A move is news for a week", () => {
  const now = new Date("2026-11-26T12:00:00Z");
  expect(isNews("2026-11-20T12:00:00Z", now)).toBe(true);
  expect(isNews("2026-11-18T12:00:00Z", now)).toBe(false);
});

import { expect, test } from "vitest";
import type { Change } from "../chart/changes";
import { bandsOf, changeText, flagName, flagsOf, kindName } from "./flags";

const from = Date.UTC(2026, 10, 20, 8);
const hour = 3_600_000;
const to = from + 10 * hour;

const change = (hours: number, kind = "deploy", more: Partial<Change> = {}): Change => ({
  id: `${kind} ${hours}`,
  at: from + hours * hour,
  kind,
  text: `text of ${hours}`,
  where: "orders",
  who: null,
  ...more,
});

const drawn = (changes: Change[], width = 1000) =>
  flagsOf(changes, from, to, width).map(({ at, kind, changes }) => [Math.round(at * 1000), kind, changes.length]);

test("changes apart have a flag each, in their order", () => {
  expect(drawn([change(5), change(1, "setting"), change(9, "restart")])).toEqual([
    [100, "setting", 1],
    [500, "deploy", 1],
    [900, "restart", 1],
  ]);
});

test("changes near each other have one flag, at the first, in the color of the gravest", () => {
  const near = [change(5), change(5.1, "setting"), change(5.2, "failover"), change(5.3, "restart")];
  expect(drawn(near)).toEqual([
    [500, "failover", 3],
    [530, "restart", 1],
  ]);
  // On a narrow chart more of them are near.
  expect(drawn(near, 200)).toEqual([[500, "failover", 4]]);
});

test("a row of changes does not become one flag as long as the row", () => {
  const row = Array.from({ length: 20 }, (_, i) => change(i / 10, "setting"));
  expect(drawn(row).map(([, , n]) => n)).toEqual([3, 3, 3, 3, 3, 3, 2]);
});

test("a flag at the end flies to the left, and is one with those that it would cover", () => {
  const ends = (hours: number[]) =>
    flagsOf(
      hours.map((at) => change(at)),
      from,
      to,
      1000,
    ).map(({ atEnd, changes }) => [atEnd, changes.length]);
  expect(ends([9, 9.9])).toEqual([
    [false, 1],
    [true, 1],
  ]);
  expect(ends([9.6, 9.9])).toEqual([[false, 2]]);
});

test("a change outside the window has no flag", () => {
  expect(drawn([change(-0.1), change(0), change(10), change(10.1)])).toEqual([
    [0, "deploy", 1],
    [1000, "deploy", 1],
  ]);
  expect(drawn([])).toEqual([]);
});

test("an unknown kind is shown as a change", () => {
  expect(kindName("migration")).toBe("Change");
  expect(drawn([change(5, "migration")])).toEqual([[500, "migration", 1]]);
});

test("a change in words names its kind, its server and its author", () => {
  expect(changeText(change(1, "deploy", { who: "Ana (token ci)" }))).toBe(
    "Deployment: text of 1, orders, set by Ana (token ci)",
  );
  expect(changeText(change(1, "failover"))).toBe("Failover: text of 1, orders");
});

test("the label of a flag has its time and the number of its changes", () => {
  const [one, two] = flagsOf([change(1), change(5), change(5.15)], from, to, 1000);
  expect(one && flagName(one)).toMatch(/^Deployment, .*20/);
  expect(two && flagName(two)).toMatch(/^2 changes, .* to /);
});

test("only a change with a duration is a band, cut to the window", () => {
  const lasts = (begins: number, ends: number) => change(begins, "maintenance", { until: from + ends * hour });
  expect(bandsOf([lasts(-2, 1), lasts(5, 6), lasts(9, 20), lasts(-3, 0), lasts(10, 11), change(4)], from, to)).toEqual([
    { id: "maintenance -2", at: 0, width: 0.1, text: "text of -2" },
    { id: "maintenance 5", at: 0.5, width: 0.1, text: "text of 5" },
    { id: "maintenance 9", at: 0.9, width: 0.1, text: "text of 9" },
  ]);
  // One that began before has no flag.
  expect(drawn([lasts(-2, 1), lasts(5, 6)])).toEqual([[500, "maintenance", 1]]);
});

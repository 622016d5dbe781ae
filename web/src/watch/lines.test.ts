import { expect, test } from "vitest";
import { bodyOf, byGroup, linesOf, more, moved, type Rule, restText, sameAs, whenText, wrong } from "./lines";

const setting = { tags: {}, enabled: true, threshold: 90, forSeconds: 300, severity: "warning" } as const;
const rule: Rule = {
  id: "connections",
  group: "Load",
  name: "Connections near the limit",
  watches: "Share",
  unit: "percent",
  comparison: "above",
  measured: true,
  unmeasuredReason: null,
  sources: "Muster",
  meaning: "Full.",
  advice: "See.",
  minThreshold: 1,
  maxThreshold: 100,
  default: setting,
  settings: [{ ...setting, tags: { env: ["prod", "pre"] }, threshold: 85 }, setting],
};

test("unchanged lines are sent back as they came, and need no saving", () => {
  const lines = linesOf(rule);
  expect(bodyOf(lines)).toEqual({ settings: rule.settings });
  expect(sameAs(lines, rule)).toBe(true);
  expect(sameAs(more(lines, rule), rule)).toBe(false);
});

test("a line is added before the last one, and moves among the others only", () => {
  const lines = more(linesOf(rule), rule);
  expect(lines.map(({ tags }) => tags)).toEqual([["env:prod", "env:pre"], [], []]);
  expect(moved(lines, 0, 1).map(({ key }) => key)).toEqual([lines[1]?.key, lines[0]?.key, lines[2]?.key]);
  expect(moved(lines, 1, 1)).toBe(lines);
  expect(moved(lines, 0, -1)).toBe(lines);
});

test("a fault of a line is shown at the line", () => {
  const [first, last] = linesOf(rule) as [never, never];
  const says = (change: object) => [...wrong([{ ...(first as object), ...change } as never, last], rule).values()];
  expect(says({})).toEqual([]);
  expect(says({ tags: [] })).toEqual(["Enter a tag, as in env:prod."]);
  expect(says({ tags: ["prod"] })[0]).toContain("is not a tag");
  expect(says({ threshold: 101 })).toEqual(["The threshold must be 1 to 100."]);
  expect(says({ threshold: "" })).toEqual(["The threshold must be 1 to 100."]);
  expect(says({ forSeconds: 86_401 })).toEqual(["The duration must be 0 to 86400 seconds."]);
  const twice = [first, { ...(first as object), key: -1, tags: ["env:pre", "env:prod"] } as never, last];
  expect([...wrong(twice, rule).values()]).toEqual(["A setting above has the same tags."]);
});

test("a setting in words", () => {
  expect(whenText(rule, setting)).toBe("above 90 percent for 5 min");
  expect(whenText({ unit: "days", comparison: "below" }, { ...setting, threshold: 14, forSeconds: 0 })).toBe(
    "below 14 days",
  );
  expect(whenText({ unit: null, comparison: "above" }, { ...setting, forSeconds: 10 })).toBe("for 10 s");
  expect(whenText({ unit: null, comparison: "above" }, { ...setting, forSeconds: 90 })).toBe("for 1 min 30 s");
  expect(whenText({ unit: null, comparison: "above" }, { ...setting, forSeconds: 0 })).toBe("at once");
});

test("rules are grouped, in the order of the catalog", () => {
  const of = (id: string, group: string) => ({ ...rule, id, group });
  const groups = byGroup([of("a", "Load"), of("b", "Space"), of("c", "Load")]);
  expect(groups.map(([group, rules]) => [group, ...rules.map(({ id }) => id)])).toEqual([
    ["Load", "a", "c"],
    ["Space", "b"],
  ]);
  expect([restText(1), restText(2)]).toEqual(["All servers", "All other servers"]);
});

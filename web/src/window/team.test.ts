import { describe, expect, test } from "vitest";
import { selected, within } from "./team";

const [a, b, c] = ["a", "b", "c"].map((x) => `0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a0${x}`) as [string, string, string];
const team = (tags: Record<string, string[]>, owned: number | null, matched = owned, instanceIds: string[] = []) => ({
  selector: { tags, instanceIds },
  ownedCount: owned,
  instanceCount: matched,
});

describe("a team's servers are requested by its tags only if these match no other server", () => {
  test.each([
    [
      "by tags",
      team({ team: ["payments"], env: ["prod", "staging"] }, 4),
      ["env:prod", "env:staging", "team:payments"],
    ],
    ["an earlier team owns one of them", team({ team: ["payments"] }, 4, 5), null],
    ["single servers in addition", team({ team: ["payments"] }, 4, 4, [a]), null],
    ["only single servers", team({}, 1, 1, [a]), null],
    ["the counts are not available", team({ team: ["payments"] }, null), null],
    ["more tags than the API takes", team({ team: Array.from({ length: 101 }, (_, n) => `t${n}`) }, 200), null],
  ])("%s", (_, of, tag) => {
    expect(selected(of)).toEqual(tag && { tag });
  });

  test("a team without servers matches nothing, never everything", () => {
    expect(selected(team({}, 0))).toEqual({ instanceId: [] });
    expect(selected(team({ team: ["gone"] }, 0, 3))).toEqual({ instanceId: [] });
  });
});

test.each([
  ["no team", {}, { tag: ["env:prod"] }, { tag: ["env:prod"] }],
  ["no other filter", { tag: ["team:payments"] }, {}, { tag: ["team:payments"] }],
  ["ids of both", { instanceId: [a, b] }, { instanceId: [b, c] }, { instanceId: [b] }],
  ["no id of both", { instanceId: [a] }, { instanceId: [c] }, { instanceId: [] }],
  ["ids and tags", { instanceId: [a] }, { tag: ["env:prod"] }, { instanceId: [a], tag: ["env:prod"] }],
  ["other keys", { tag: ["team:x"] }, { tag: ["env:prod"] }, { tag: ["env:prod", "team:x"] }],
  [
    "a key of both",
    { tag: ["env:prod", "env:test", "team:x"] },
    { tag: ["env:prod", "env:dev"] },
    { tag: ["env:prod", "team:x"] },
  ],
  ["a key of both without a shared value", { tag: ["env:prod"] }, { tag: ["env:dev"] }, { tag: [] }],
  ["a filter that matches nothing", { tag: ["team:x"] }, { tag: [] }, { tag: [] }],
  ["a team that matches nothing", { instanceId: [] }, { tag: ["env:prod"] }, { instanceId: [], tag: ["env:prod"] }],
])("within a team, %s: what both match", (_, of, chosen, want) => {
  expect(within(of, chosen)).toEqual(want);
});

import { expect, test } from "vitest";
import { groupsOf } from "./groups";
import type { Instance, Status } from "./states";

const server = (status: Status, tags: Record<string, string>, openAlerts: number | null = 0, criticalAlerts = 0) =>
  ({ status, tags, health: { openAlerts, criticalAlerts } }) as Instance;

test("servers are grouped by the value of a tag, the worst state first, those without it last", () => {
  const groups = groupsOf(
    [
      server("up", { env: "prod" }, 2, 1),
      server("up", { env: "staging" }),
      server("down", { env: "test" }),
      server("silent", { env: "prod" }, 1),
      server("down", { team: "data" }),
      server("inactive", { env: "prod" }),
      server("up", { env: "dev" }, null),
    ],
    "env",
  );
  expect(groups.map(({ value, worst, instances }) => [value, worst, instances])).toEqual([
    ["test", "down", 1],
    ["prod", "silent", 3],
    ["dev", "up", 1],
    ["staging", "up", 1],
    [null, "down", 1],
  ]);
  expect(groups[1]).toMatchObject({
    counts: [
      ["silent", 1],
      ["up", 1],
      ["inactive", 1],
    ],
    openAlerts: 3,
    criticalAlerts: 1,
  });
  expect(groups[2]?.openAlerts).toBeNull();
  expect(groupsOf([], "env")).toEqual([]);
});

import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { choices } from "./teamChoices";

const team = (id: string, ...members: string[]) =>
  ({
    id,
    name: id.toUpperCase(),
    members: members.map((memberId) => ({ memberId, role: "member" })),
  }) as Schemas["Team"];
const teams = [team("payments", "ana"), team("platform", "ana", "jonas"), team("analytics")];
const labels = (of: { label: string }[]) => of.map(({ label }) => label);

test("a member chooses from all teams, and one with the role team from their own", () => {
  expect(labels(choices(teams, { id: "jonas", role: "viewer" }, undefined))).toEqual([
    "All teams",
    "PAYMENTS",
    "PLATFORM",
    "ANALYTICS",
  ]);
  expect(labels(choices(teams, { id: "jonas", role: "team" }, undefined))).toEqual(["All your teams", "PLATFORM"]);
  expect(labels(choices(teams, { id: "nobody", role: "team" }, undefined))).toEqual(["All your teams"]);
});

test("a deleted team stays chosen, and another's team has its name", () => {
  expect(choices(teams, { id: "ana", role: "admin" }, "gone").at(-1)).toEqual({
    value: "gone",
    label: "A removed team",
  });
  expect(choices(teams, { id: "jonas", role: "team" }, "payments").at(-1)?.label).toBe("PAYMENTS");
  expect(choices([], { id: "ana", role: "admin" }, undefined)).toHaveLength(1);
});

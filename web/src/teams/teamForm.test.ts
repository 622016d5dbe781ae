import { expect, test } from "vitest";
import { noTag } from "../url/tagWords";
import { bodyOf, formOf, selects, type Team } from "./teamForm";

const team: Team = {
  id: "t",
  position: 1,
  name: "Payments",
  createdAt: "2026-11-20T09:00:00Z",
  selector: { tags: { team: ["payments"], env: ["prod", "staging"] }, instanceIds: ["a"] },
  members: [
    { memberId: "m", name: "Ana", role: "viewer" },
    { memberId: "n", name: "Jonas", role: "member" },
  ],
  instanceCount: 5,
  ownedCount: 4,
  unavailable: [],
};

test("a form returns its team unchanged", () => {
  const { name, selector, members } = bodyOf(formOf(team));
  expect({ name, selector }).toEqual({ name: team.name, selector: team.selector });
  expect(members).toEqual([
    { memberId: "m", role: "viewer" },
    { memberId: "n", role: "member" },
  ]);
});

test("a new member may act on the servers", () => {
  expect(bodyOf({ ...formOf(team), memberIds: ["x"] }).members).toEqual([{ memberId: "x", role: "member" }]);
});

test("an invalid tag is named", () => {
  expect(noTag(["env:prod", "zone"])).toContain("“zone”");
  expect(noTag(["Env:prod"])).toContain("“Env:prod”");
  expect(noTag(["env:prod", "env:test"])).toBeNull();
});

test("a selector in words", () => {
  expect(selects(team)).toBe("Servers with env: prod or staging, and team: payments; and 1 server chosen by hand.");
  expect(selects({ ...team, selector: { tags: {}, instanceIds: [] } })).toBe("No servers are selected.");
  expect(selects({ ...team, selector: { tags: {}, instanceIds: ["a", "b"] } })).toBe("2 servers chosen by hand.");
});

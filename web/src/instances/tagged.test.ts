import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { keysOf, outcomeOf } from "./tagged";

const item = (id: string, detail?: string): Schemas["ActedOnOne"] => ({
  id,
  done: detail === undefined,
  problem: detail === undefined ? null : { status: 403, code: "protected_tag", title: "", detail },
});
const instances: { id: string; name: string; tags: Record<string, string> }[] = [
  { id: "1", name: "orders", tags: { env: "prod", team: "data" } },
  { id: "2", name: "billing", tags: { env: "test" } },
];

test("the result of a change of tags names each refused instance with the reason", () => {
  expect(outcomeOf([item("1")], instances)).toEqual({ said: "The tags of 1 instance are saved.", refused: [] });
  expect(outcomeOf([item("1"), item("2")], instances).said).toBe("The tags of 2 instances are saved.");
  expect(outcomeOf([item("1"), item("2", "No."), item("3", "Unknown.")], instances)).toEqual({
    said: "The tags of 1 of 3 instances are saved.",
    refused: [
      { id: "2", name: "billing", why: "No." },
      { id: "3", name: "3", why: "Unknown." },
    ],
  });
  expect(outcomeOf([item("1", "No.")], instances).said).toBe("No tag was changed.");
});

test("the keys to remove are those of any selected instance", () => {
  expect(keysOf(instances)).toEqual(["env", "team"]);
  expect(keysOf([])).toEqual([]);
});

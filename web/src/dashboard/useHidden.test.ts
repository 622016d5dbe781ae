import { expect, test } from "vitest";
import { toggled } from "./useHidden";

const atFirst = ["clientNetwork", "other"] as const;

test("a choice is the address's list, until it is the one without a list", () => {
  expect(toggled(atFirst, "other")).toEqual(["clientNetwork"]);
  expect(toggled(["clientNetwork"], "clientNetwork")).toEqual([]);
  expect(toggled([], "other")).toEqual(["other"]);
  expect(toggled(["other"], "clientNetwork")).toBeUndefined();
  expect(toggled(atFirst, "cpuPercent")).toEqual(["clientNetwork", "other", "cpuPercent"]);
  expect(toggled(["cpuPercent", "other", "clientNetwork"], "cpuPercent")).toBeUndefined();
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { reasonText } from "./reasons";

test("every reason that the intake counts has words", () => {
  const source = readFileSync("../internal/intake/reasons.go", "utf8");
  const codes = [...source.matchAll(/Reason = "([a-z_]+)"/g)].map(([, code]) => code as string);
  expect(codes.length).toBeGreaterThan(20);
  expect(codes.filter((code) => reasonText(code) === code)).toEqual([]);
});

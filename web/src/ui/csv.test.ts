import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { cell } from "./csv";

test("a cell matches the server's files", () => {
  const cells: Record<string, string> = JSON.parse(
    readFileSync("../internal/report/snapshot/companion/testdata/cells.json", "utf8"),
  );
  for (const [text, shown] of Object.entries(cells)) expect(cell(text)).toBe(shown);
  expect(Object.keys(cells).length).toBeGreaterThan(30);
});

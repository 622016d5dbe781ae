import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { cell } from "./csv";

test("a cell is what the server's files have", () => {
  const cells: Record<string, string> = JSON.parse(
    readFileSync("../internal/report/snapshot/companion/testdata/cells.json", "utf8"),
  );
  for (const [text, shown] of Object.entries(cells)) expect(cell(text)).toBe(shown);
  expect(Object.keys(cells).length).toBeGreaterThan(30);
});

// How long the documents of a demo of today are. Later days are those of TestLongTheDocumentsOfADemoStayShort.
import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { apiAs } from "./browser";

/** How many pages a document of a kind may have, whatever its servers and its window are. */
const mostPages = { Security: 18, InstanceScorecard: 8, DataInventory: 11 } as const;

test.each(Object.entries(mostPages))("each %s of the demo has at most %i pages", async (kind, most) => {
  const answer = await apiAs("admin", "GET", `/api/v1/reports?kind=${kind}&status=Ready`);
  expect(answer.status).toBe(200);
  const { items } = (await answer.json()) as Schemas["ReportPage"];
  const pages = items.map((item) => [item.file?.name, item.file?.pages] as const);
  expect(pages.length).toBeGreaterThan(0);
  expect(pages.filter(([, n]) => n === undefined || n > most)).toEqual([]);
});

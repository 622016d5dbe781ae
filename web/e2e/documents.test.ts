// How long the documents of a demo of today are. Later days are those of TestLongTheDocumentsOfADemoStayShort.
import { expect, test } from "vitest";
import type { Schemas } from "../src/api/client";
import { apiAs } from "./browser";

/** How many pages a document of a kind may have, whatever its servers and its window are. */
const mostPages = { Security: 18, InstanceScorecard: 8, DataInventory: 11 } as const;

/** The members of the demo: what other tests ask for, perhaps over more servers, is not the demo's. */
const people = ["Ana Ruiz", "Jonas Weber", "Mei Tanaka", "Tomás Pereira"];

test.each(Object.entries(mostPages))("each %s of the demo has at most %i pages", async (kind, most) => {
  const found: Schemas["Report"][] = [];
  for (let page = 1, more = true; more; page++) {
    const answer = await apiAs("admin", "GET", `/api/v1/reports?kind=${kind}&status=Ready&page=${page}`);
    expect(answer.status).toBe(200);
    const { items } = (await answer.json()) as Schemas["ReportPage"];
    found.push(...items.filter((item) => people.includes(item.requester.name)));
    more = items.length > 0;
  }
  expect(found.length).toBeGreaterThan(0);
  const long = found.filter(({ file }) => !file || file.pages > most);
  expect(long.map(({ file }) => [file?.name, file?.pages])).toEqual([]);
});

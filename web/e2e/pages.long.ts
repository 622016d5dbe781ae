import { expect, test } from "vitest";
import { violations, visit } from "./browser";
import { everyPage, settled, sideways } from "./pages";

// 40, for every page there is: no violation of WCAG 2.2 A and AA in light and dark, no
// scrolling to the side at 320 px (which is 400 % of a 1,280 px window), no complaint of
// the console (visit holds it against each).
const pages = (await everyPage()).filter((page) => !page.again);

test.each(pages)("40 $name is accessible, in light and dark, and fits 320 px", async ({ path, as = "admin" }) => {
  // Whoever asks for what is not there or not theirs is told so by status, which browsers log.
  const page = await visit(path, { as, expected: [/the server responded with a status of 40[34]/] });
  await settled(page);
  expect(await violations(page)).toEqual([]);
  await page.setViewportSize({ width: 320, height: 800 });
  expect(await sideways(page), "scrolls sideways at 320 px").toBe(false);
});

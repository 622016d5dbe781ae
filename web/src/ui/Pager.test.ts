import { expect, test } from "vitest";
import { pageOf } from "./Pager";

test("a page of a complete list, and of a shorter one", () => {
  const all = [1, 2, 3, 4, 5];
  expect(pageOf(all, 2, 2)).toEqual({ items: [3, 4], page: { number: 2, size: 2, totalItems: 5, totalPages: 3 } });
  expect(pageOf(all, 4, 2)).toEqual({ items: [], page: { number: 4, size: 2, totalItems: 5, totalPages: 3 } });
  expect(pageOf([], 1, 2)).toEqual({ items: [], page: { number: 1, size: 2, totalItems: 0, totalPages: 0 } });
});

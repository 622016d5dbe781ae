import { describe, expect, test } from "vitest";
import { averageHeading, averageIn, identity, ran } from "./compared";
import type { Item } from "./query";

const item = (of: Partial<Item>): Item => ({
  ...{ key: "unknown", known: true, name: null, waitClass: null, instance: null, database: null, statement: null },
  ...{ average: 1, share: null, byClass: null },
  ...of,
});
const statement = (id: string) => item({ key: id, statement: { id, text: null } });

describe("the average of the window", () => {
  test("belongs to the same item, under any key", () => {
    const items = [item({ key: "shop", name: "shop", average: 2.14 }), item({ key: "unknown", average: 7 })];
    expect(averageIn({ items, others: 0 }, item({ key: "shop (2)", name: "shop" }))).toBe("2.1");
    expect(averageIn({ items, others: 0 }, item({ known: false }))).toBe("7.0");
  });

  test("is not mixed up between two wait events of one name", () => {
    const [io, locks] = ["io", "locks"].map((waitClass) => item({ key: "x", name: "x", waitClass }));
    expect(io && locks && identity(io) === identity(locks)).toBe(false);
  });

  test("of a missing item is not seen, or unknown", () => {
    expect(averageIn({ items: [], others: 0 }, statement("a"))).toBe("not seen");
    expect(averageIn({ items: [], others: 3 }, statement("a"))).toBe("–");
  });

  test("names its length", () => {
    expect(averageHeading({ from: "2026-11-22T10:00:00Z", to: "2026-11-22T16:00:00Z" })).toBe("6 h average");
  });
});

describe("the cost of a statement", () => {
  const page = (totalItems: number) =>
    ({
      from: "2026-11-22T10:00:00Z",
      to: "2026-11-22T10:01:00Z",
      items: [
        { id: "a", calls: 126, meanMs: 33.5 },
        { id: "b", calls: 13_860, meanMs: 3.9 },
      ],
      page: { number: 1, size: 100, totalItems, totalPages: 1 },
    }) as unknown as Parameters<typeof ran>[0];

  test("is its calls per second, and their mean time", () => {
    expect(ran(page(2), "a")).toEqual({ calls: "2.1", mean: "33.5 ms" });
    expect(ran(page(2), "b")).toEqual({ calls: "231", mean: "3.9 ms" });
  });

  test("is zero if it did not run, and unknown on an incomplete page", () => {
    expect(ran(page(2), "c")).toEqual({ calls: "0", mean: "–" });
    expect(ran(page(200), "c")).toBeNull();
  });
});

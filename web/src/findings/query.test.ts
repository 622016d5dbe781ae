import { expect, test } from "vitest";
import { directionOf, turned } from "../ui/sorting";
import { findingsSearch } from "../url/schemas";
import { parseSearch } from "../url/search";
import { filtersOf, findingsQuery, first, isFiltered } from "./query";

const asked = (address: string) => findingsQuery(findingsSearch(parseSearch(address)));

test("a request has the filters of the address, and without any the open findings, the worst first", () => {
  expect(asked("")).toEqual({ page: 1, pageSize: 20, sort: "-severity" });
  expect(
    asked("?severity=High&severity=Low&domain=Schema&status=accepted&q=idx&sort=firstSeenAt&page=3&pageSize=900"),
  ).toEqual({
    page: 3,
    pageSize: 200,
    sort: "firstSeenAt",
    severity: ["High", "Low"],
    domain: ["Schema"],
    status: ["accepted"],
    q: "idx",
  });
});

test("an unreadable filter requests nothing, and never all", () => {
  expect(asked("?severity=worst")).toBeNull();
  expect(asked("?instanceId=x")).toBeNull();
  expect(asked("?tag=x")).toBeNull();
  expect(asked("?sort=title")).not.toBeNull();
});

test("findings of the servers with a tag are requested", () => {
  expect(asked("?tag=env:prod")).toMatchObject({ tag: ["env:prod"] });
  const search = findingsSearch(parseSearch("?tag=env:prod"));
  expect(isFiltered(search)).toBe(true);
  expect(filtersOf(search)).toEqual({ tag: ["env:prod"] });
});

test("overdue findings are requested, alone or of one member", () => {
  expect(asked("?overdue=true&sort=dueAt")).toEqual({ page: 1, pageSize: 20, sort: "dueAt", overdue: true });
  const me = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a02";
  expect(asked(`?assigneeId=${me}`)).toMatchObject({ assigneeId: me });
  expect(asked("?overdue=perhaps")).toEqual(asked(""));
  const search = findingsSearch(parseSearch("?overdue=true&sort=dueAt&page=2"));
  expect(isFiltered(search)).toBe(true);
  expect(filtersOf(search)).toEqual({ overdue: true });
});

test("an order is no filter", () => {
  expect(isFiltered(findingsSearch(parseSearch("?sort=checkId&page=2")))).toBe(false);
  expect(isFiltered(findingsSearch(parseSearch("?status=accepted")))).toBe(true);
});

test("a second click reverses a column", () => {
  expect(turned("-severity", first.checkId)).toBe("checkId");
  expect(turned("checkId", first.checkId)).toBe("-checkId");
  expect(turned("checkId", first.severity)).toBe("-severity");
  expect(turned("-severity", first.severity)).toBe("severity");
  expect(directionOf("-severity", "severity")).toBe("descending");
  expect(directionOf("-severity", "instance")).toBe("none");
});

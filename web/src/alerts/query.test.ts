import { expect, test } from "vitest";
import { directionOf, turned } from "../ui/sorting";
import { alertsSearch } from "../url/schemas";
import { parseSearch } from "../url/search";
import { alertsQuery, first, isFiltered, windowText } from "./query";

const anchor = new Date("2026-11-20T12:00:00Z");
const id = "0199f0d2-7a10-7c44-9b0e-2f6f1e6c1a01";
const read = (address: string) => alertsSearch(parseSearch(address));
const asked = (address: string) => alertsQuery(read(address), anchor);

const plain = { page: 1, pageSize: 20, sort: "-lastTriggeredAt", status: "all", muted: "include" };

test.each([
  ["", plain],
  ["range=24h", { ...plain, from: "2026-11-19T12:00:00.000Z" }],
  [
    "from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z",
    { ...plain, from: "2026-11-01T00:00:00.000Z", to: "2026-11-02T00:00:00.000Z" },
  ],
  ["from=2026-11-01T00:00:00Z", plain],
  [`status=open&muted=exclude&instanceId=${id}`, { ...plain, status: "open", muted: "exclude", instanceId: [id] }],
  [
    "severity=critical&severity=info&q=lag&sort=state&page=3&pageSize=50",
    { ...plain, severity: ["critical", "info"], q: "lag", sort: "state", page: 3, pageSize: 50 },
  ],
  ["tag=env:prod&tag=env:test", { ...plain, tag: ["env:prod", "env:test"] }],
  ["pageSize=5000", { ...plain, pageSize: 100 }],
])("the address “%s” asks for exactly that", (address, query) => {
  expect(asked(address)).toEqual(query);
});

test.each(["instanceId=", "instanceId=nonsense", "tag=", "tag=nonsense", "severity=", "severity=dreadful"])(
  "the filter “%s” matches nothing and asks nothing",
  (address) => {
    expect(asked(address)).toBeNull();
  },
);

test("the window is shown in words, if the address has one", () => {
  expect(windowText(read("range=24h"))).toBe("Last triggered in the last 24 hours");
  expect(windowText(read("from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z"))).toContain("UTC to ");
  expect(windowText(read("status=open"))).toBeNull();
});

test.each([
  ["", false],
  ["status=all&muted=include&range=1h&page=2&sort=state", false],
  ["status=open", true],
  ["severity=info", true],
  ["q=lag", true],
  ["muted=only", true],
])("the address “%s” is filtered: %s", (address, filtered) => {
  expect(isFiltered(read(address))).toBe(filtered);
});

test("a column puts the gravest first, and reverses the order on the next click", () => {
  expect(turned("-lastTriggeredAt", first.severity)).toBe("-severity");
  expect(turned("-severity", first.severity)).toBe("severity");
  expect(turned("severity", first.severity)).toBe("-severity");
  expect(turned("-severity", first.state)).toBe("state");
  expect(turned("state", first.state)).toBe("-state");
  expect(directionOf("-createdAt", "createdAt")).toBe("descending");
  expect(directionOf("createdAt", "createdAt")).toBe("ascending");
  expect(directionOf("createdAt", "state")).toBe("none");
});

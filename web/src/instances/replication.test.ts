import { expect, test } from "vitest";
import { type Branch, behind, type Edge, heldBack, lostAfter, type Node, treesOf } from "./replication";

const node = (name: string): Node => ({
  instance: null,
  name,
  role: null,
  condition: "works",
  since: null,
  why: null,
  lagSeconds: null,
  lagBytes: null,
  measuredAt: null,
});

const edge = (from: number, to: number): Edge => ({
  from,
  to,
  kind: "physical",
  group: null,
  state: null,
  sync: null,
  condition: "works",
  since: null,
  why: null,
  lagSeconds: null,
  lagBytes: null,
});

const written = (branches: Branch[]): string =>
  branches
    .map(({ node: { name }, children }) => name + (children.length > 0 ? `(${written(children)})` : ""))
    .join(" ");

test("servers are listed below the servers that they follow, and a circle ends where it began", () => {
  const draw = (names: string[], ...edges: [number, number][]) =>
    written(treesOf({ nodes: names.map(node), edges: edges.map(([from, to]) => edge(from, to)) }));
  expect(draw(["a", "b", "c", "d"], [0, 1], [0, 2], [1, 3])).toBe("a(b(d) c)");
  expect(draw(["a", "b"])).toBe("a b");
  expect(draw(["a", "b", "c", "d"], [0, 2], [1, 2], [2, 3])).toBe("a(c(d)) b(c)");
  expect(draw(["a", "b"], [0, 1], [1, 0])).toBe("a(b(a))");
});

test("an unknown lag is not zero", () => {
  expect(behind({ lagSeconds: null, lagBytes: null })).toBe("lag unknown");
  expect(behind({ lagSeconds: 0, lagBytes: 0 })).toBe("0 s behind");
  expect(behind({ lagSeconds: 74, lagBytes: 412 * 1024 * 1024 })).toBe("1 min 14 s, 412 MB behind");
  expect(behind({ lagSeconds: null, lagBytes: 0 })).toBe("0 B behind");
});

test("a slot has no limit only if its server reports so", () => {
  expect(lostAfter({ walStatus: "reserved", safeBytes: null })).toBe("no limit");
  expect(lostAfter({ walStatus: "extended", safeBytes: 2048 })).toBe("lost after 2.0 KB more");
  expect(lostAfter({ walStatus: "unreserved", safeBytes: -1 })).toBe("lost after 0 B more");
  expect(lostAfter({ walStatus: "lost", safeBytes: null })).toBeNull();
  expect(lostAfter({ walStatus: null, safeBytes: null })).toBeNull();
});

test("an unknown amount held back is not zero", () => {
  expect(heldBack({ retainedBytes: null })).toBe("amount held back unknown");
  expect(heldBack({ retainedBytes: 0 })).toBe("holds back 0 B");
});

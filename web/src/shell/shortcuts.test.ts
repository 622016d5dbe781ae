import { afterEach, describe, expect, test } from "vitest";
import { label, onKey, toggled } from "./filterKeys";
import { placeOf } from "./navigation";
import { type Begun, isOurs, press, shortcuts } from "./shortcuts";

/** typed is the actions that keys lead to, each so many milliseconds after the one before. */
function typed(keys: string[], apart = 100) {
  let begun: Begun | null = null;
  return keys.flatMap((key, i) => {
    const meant = press(begun, key, i * apart);
    begun = meant.begun;
    return meant.action ?? [];
  });
}

describe("a key sequence", () => {
  test.each(shortcuts)("$keys", ({ keys, action }) => {
    expect(typed(keys)).toEqual([action]);
  });
  test("is over when the second key is late", () => {
    expect(typed(["g", "d"], 2_000)).toEqual([]);
    expect(typed(["g", "r"], 2_000)).toEqual(["refresh"]);
  });
  test("without an action starts again", () => {
    expect(typed(["g", "g", "d"])).toEqual(["dashboard"]);
    expect(typed(["g", "x", "d"])).toEqual([]);
    expect(typed(["g", "t"])).toEqual(["window"]);
  });
});

describe("a key press", () => {
  afterEach(() => {
    document.body.innerHTML = "";
  });
  const pressedOn = (html: string, init: KeyboardEventInit = {}) => {
    document.body.innerHTML = html;
    let ours: boolean | null = null;
    const listen = (event: KeyboardEvent) => {
      ours = isOurs(event);
    };
    document.addEventListener("keydown", listen, { once: true });
    (document.body.querySelector("[data-at]") ?? document.body).dispatchEvent(
      new KeyboardEvent("keydown", { key: "r", bubbles: true, ...init }),
    );
    return ours;
  };
  test("is a shortcut on the page and on its buttons", () => {
    expect(pressedOn("")).toBe(true);
    expect(pressedOn("<button data-at>Refresh</button>")).toBe(true);
  });
  test.each([
    "<input data-at>",
    "<textarea data-at></textarea>",
    "<select data-at></select>",
    '<div role="dialog"><button data-at></button></div>',
    '<div role="menu"><button data-at></button></div>',
    '<button data-at></button><div aria-modal="true"></div>',
  ])("is not in %s", (html) => {
    expect(pressedOn(html)).toBe(false);
  });
  test.each(["ctrlKey", "metaKey", "altKey"])("is no shortcut with %s", (modifier) => {
    expect(pressedOn("", { [modifier]: true })).toBe(false);
  });
});

describe("the filter's field", () => {
  const names = ["orders 01", "orders 02", "billing"];
  test("moves around in a circle", () => {
    expect(onKey("ArrowDown", { query: "", at: 2, names })).toEqual({ move: 0 });
    expect(onKey("ArrowUp", { query: "", at: 0, names })).toEqual({ move: 2 });
  });
  test("toggles with Space, unless a name continues with one", () => {
    expect(onKey(" ", { query: "", at: 0, names })).toEqual({});
    expect(onKey(" ", { query: "billing", at: 0, names })).toEqual({});
    expect(onKey(" ", { query: "orders", at: 0, names })).toBeNull();
  });
  test("toggles one at a time, 500 at most", () => {
    expect(toggled(["a"], "b")).toEqual(["a", "b"]);
    expect(toggled(["a", "b"], "a")).toEqual(["b"]);
    const full = Array.from({ length: 500 }, (_, i) => String(i));
    expect(toggled(full, "x")).toEqual(full);
  });
  test("is labeled by its action", () => {
    expect(label({}, undefined, null)).toBe("All instances");
    expect(label({ instanceId: [] }, undefined, 14)).toBe("No instance matches");
    expect(label({ instanceId: ["a", "b"] }, [], 14)).toBe("2 of 14");
    expect(label({ instanceId: ["a", "b"] }, undefined, null)).toBe("2 chosen");
  });
});

test.each([
  ["/", "/"],
  ["/alerts/0193a1b2-0000-7000-8000-00000000000a", "/alerts"],
  ["/reports", "/reports"],
  ["/reports/view", "/reports"],
  ["/reports/history", "/reports/history"],
  ["/reports/0193a1b2-0000-7000-8000-00000000000a", "/reports/history"],
  ["/settings/account", null],
  ["/reportsx", null],
])("%s belongs to %s in the navigation", (path, place) => {
  expect(placeOf(path)).toBe(place);
});

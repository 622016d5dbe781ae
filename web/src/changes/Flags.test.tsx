import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { type Change, ChangesContext } from "../chart/changes";
import { Flags } from "./Flags";

beforeAll(() => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
});
afterEach(cleanup);

const from = Date.UTC(2026, 10, 20, 8);
const to = from + 36_000_000;

const change = (part: number, more: Partial<Change> = {}): Change => ({
  id: String(part),
  at: from + part * (to - from),
  kind: "deploy",
  text: `deploy ${part}`,
  where: "orders",
  who: "Ana",
  ...more,
});

const show = (all: Change[]) =>
  render(
    <ChangesContext value={{ all, Flags }}>
      <Flags title="Waits" from={from} to={to} />
    </ChangesContext>,
  );

test("a flag describes its change while it has the focus, and Escape closes it", () => {
  show([change(0.2), change(0.8)]);
  expect(screen.queryByRole("tooltip")).toBeNull();
  fireEvent.focus(screen.getAllByRole("button")[0] as HTMLElement);
  expect(screen.getByRole("tooltip").textContent).toMatch(/^Deployment .*deploy 0\.2orders, set by Ana$/);
  fireEvent.keyDown(document, { key: "Escape" });
  expect(screen.queryByRole("tooltip")).toBeNull();
});

test("the flags of a chart are one stop of the Tab key, and arrows lead from one to the next", () => {
  show([change(0.2), change(0.5), change(0.8)]);
  const flags = screen.getAllByRole("button");
  const stops = () => flags.map((flag) => flag.tabIndex).join();
  expect(stops()).toBe("0,-1,-1");
  flags[0]?.focus();
  fireEvent.keyDown(flags[0] as HTMLElement, { key: "ArrowRight" });
  expect(document.activeElement).toBe(flags[1]);
  expect(stops()).toBe("-1,0,-1");
  fireEvent.keyDown(flags[1] as HTMLElement, { key: "End" });
  expect(document.activeElement).toBe(flags[2]);
  fireEvent.keyDown(flags[2] as HTMLElement, { key: "ArrowRight" });
  expect(document.activeElement).toBe(flags[2]);
  expect(screen.getByRole("tooltip").textContent).toContain("deploy 0.8");
});

test("a flag of several changes has their number, lists the first, and counts the rest", () => {
  show(Array.from({ length: 7 }, (_, i) => change(0.5 + i / 10_000)));
  const flag = screen.getByRole("button");
  expect(flag.textContent).toBe("7");
  fireEvent.pointerEnter(flag);
  expect(screen.getAllByRole("listitem")).toHaveLength(5);
  expect(screen.getByRole("tooltip").textContent).toContain("and 2 more");
});

test("markup in a text is shown as text", () => {
  show([change(0.5, { text: "<img src=x onerror=alert(1)>" })]);
  fireEvent.focus(screen.getByRole("button"));
  expect(screen.getByRole("tooltip").querySelector("img")).toBeNull();
  expect(screen.getByRole("tooltip").textContent).toContain("<img");
});

test("a maintenance window is a band behind the flags, with its name and its end", () => {
  show([change(0.4, { kind: "maintenance", text: "Patch day", until: from + 0.6 * (to - from) }), change(0.9)]);
  const band = screen.getByText("Maintenance window: Patch day").parentElement as HTMLElement;
  expect(band.className).toBe("flag-band");
  expect([band.style.getPropertyValue("--at"), Number(band.style.getPropertyValue("--wide")).toFixed(3)]).toEqual([
    "0.4",
    "0.200",
  ]);
  expect(document.querySelectorAll(".flag-band")).toHaveLength(1);
  fireEvent.focus(screen.getAllByRole("button")[0] as HTMLElement);
  expect(screen.getByRole("tooltip").textContent).toMatch(/^Maintenance window .* to .*Patch day/);
});

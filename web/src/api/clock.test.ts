import { beforeEach, describe, expect, test, vi } from "vitest";

const noon = Date.parse("2026-11-20T12:00:00Z");
const date = (seconds: number) => new Date(noon + seconds * 1_000).toUTCString();

describe("the server's clock", () => {
  let clock: typeof import("./clock");
  beforeEach(async () => {
    vi.resetModules();
    clock = await import("./clock");
  });
  /** off is what is added to the browser's clock, in milliseconds. */
  const off = () => clock.onServer(noon) - noon;

  test("is the browser's before the first answer", () => {
    expect(off()).toBe(0);
    clock.noteDate(null, noon, noon);
    clock.noteDate("yesterday", noon, noon);
    expect(off()).toBe(0);
  });

  test("is the browser's if the two may agree", () => {
    clock.noteDate(date(0), noon + 100, noon + 900);
    expect(off()).toBe(0);
  });

  test("is ahead of a late browser by the certain difference only", () => {
    clock.noteDate(date(90), noon, noon + 200);
    expect(off()).toBe(89_800);
  });

  test("is behind a browser that is ahead", () => {
    clock.noteDate(date(-300), noon, noon + 200);
    expect(off()).toBe(-299_000);
  });

  test("gets surer with each answer", () => {
    clock.noteDate(date(90), noon, noon + 2_000);
    expect(off()).toBe(88_000);
    clock.noteDate(date(100), noon + 10_000, noon + 10_300);
    expect(off()).toBe(89_700);
  });

  test("is measured again when one of the clocks was set", () => {
    clock.noteDate(date(90), noon, noon + 200);
    clock.noteDate(date(0), noon + 100, noon + 200);
    expect(off()).toBe(0);
  });
});

import { expect, test } from "vitest";
import { latency, percent, spanText } from "./units";

test.each([
  [0, "0 ms"],
  [0.0007, "0.7 µs"], // F24
  [0.00001, "<0.1 µs"],
  [0.0099, "9.9 µs"],
  [0.01, "0.01 ms"],
  [4.214, "4.21 ms"],
  [812.54, "812.5 ms"],
  [999, "999 ms"],
  [999.97, "1 s"],
  [1_204, "1.2 s"],
  [58_104, "58.1 s"],
  [1_204_000, "1,204 s"],
])("%d ms reads %s", (milliseconds, text) => {
  expect(latency(milliseconds)).toBe(text);
});

// F24.
test.each([
  [0, "0 %"],
  [0.04, "<0.1 %"],
  [0.05, "0.1 %"],
  [41.24, "41.2 %"],
  [100, "100 %"],
])("%d of a hundred reads %s", (value, text) => {
  expect(percent(value)).toBe(text);
});

// F17: the head of the panel and its body name the same minutes.
test("an unfinished bucket is shown as the whole minute", () => {
  expect(spanText({ from: "2026-11-26T17:54:00Z", to: "2026-11-26T17:54:20Z" })).toMatch(/54 – \d+:55$/);
  expect(spanText({ from: "2026-11-26T17:54:00Z", to: "2026-11-26T17:55:00Z" })).toMatch(/54 – \d+:55$/);
});

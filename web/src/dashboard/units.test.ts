import { expect, test } from "vitest";
import { latency } from "./units";

test.each([
  [0, "0 ms"],
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

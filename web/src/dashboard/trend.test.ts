import { expect, test } from "vitest";
import { alertTone, trendWords } from "./trend";

test.each([
  [-2, "−2 in 7 days", "good"],
  [0, "no change", "neutral"],
  [1, "+1 in 7 days", "bad"],
])("a trend of %i reads %s", (trend, words, tone) => {
  expect(trendWords(trend)).toBe(words);
  expect(alertTone(trend)).toBe(tone);
});

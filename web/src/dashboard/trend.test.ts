import { expect, test } from "vitest";
import { alertTone, trendWords } from "./trend";

test.each([
  [-2, "2 fewer than 7 days ago", "good"],
  [0, "no change", "neutral"],
  [1, "1 more than 7 days ago", "bad"],
])("a trend of %i reads %s", (trend, words, tone) => {
  expect(trendWords(trend)).toBe(words);
  expect(alertTone(trend)).toBe(tone);
});

import { expect, test } from "vitest";
import { hues } from "./palette";

/** luminance and contrast are those of WCAG 2.2. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

// The page and the card on it, of theme.ts.
const grounds = { light: ["#f6f8f8", "#ffffff"], dark: ["#16191b", "#1c2023"] };

test.each(Object.entries(hues))("%s is seen on light and on dark", (_name, [light, dark]) => {
  for (const ground of grounds.light) expect(contrast(light, ground)).toBeGreaterThanOrEqual(3);
  for (const ground of grounds.dark) expect(contrast(dark, ground)).toBeGreaterThanOrEqual(3);
});

import { expect, test } from "vitest";
import { hues, palette, seriesColors } from "./palette";

/** linear are red, green and blue of a color as amounts of light. */
const linear = (hex: string) =>
  [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)) as [number, number, number];

/** luminance and contrast are those of WCAG 2.2. */
function luminance(hex: string): number {
  const [r, g, b] = linear(hex);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

// The page and the card on it, of theme.ts.
const grounds = { light: ["#f6f8f8", "#ffffff"], dark: ["#16191b", "#1c2023"] };

test.each(Object.entries(hues))("%s is visible on light and on dark", (_name, [light, dark]) => {
  for (const ground of grounds.light) expect(contrast(light, ground)).toBeGreaterThanOrEqual(3);
  for (const ground of grounds.dark) expect(contrast(dark, ground)).toBeGreaterThanOrEqual(3);
});

/** oklab is a color in OKLab (Ottosson 2020), where distances are about as they are seen. */
function oklab(hex: string): [number, number, number] {
  const [r, g, b] = linear(hex);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

test("sessions on the CPU and those of each class of waits have colors that differ on light and on dark", () => {
  const { onCpu, locks, lightweightLocks, io, clientNetwork, other } = palette;
  const stacked = Object.entries(hues).filter(([name]) =>
    [onCpu, locks, lightweightLocks, io, clientNetwork, other].includes(seriesColors[name as keyof typeof hues]),
  );
  expect(stacked).toHaveLength(6);
  for (const scheme of [0, 1] as const) {
    for (const [i, [one, of]] of stacked.entries()) {
      for (const [another, than] of stacked.slice(i + 1)) {
        const other = oklab(than[scheme]);
        const distance = Math.hypot(...oklab(of[scheme]).map((value, at) => value - (other[at] ?? 0)));
        expect(distance, `${one} and ${another}`).toBeGreaterThanOrEqual(0.12);
      }
    }
  }
});

import { count } from "../ui/format";

export type Tone = "good" | "bad" | "neutral";

/** trendWords is a change against seven days ago in words: "−2 in 7 days"; zero is "no change". */
export function trendWords(trend: number): string {
  if (trend === 0) return "no change";
  return `${trend > 0 ? "+" : "−"}${count(Math.abs(trend))} in 7 days`;
}

/** alertTone judges a change in open alerts; of servers and databases neither more nor fewer is better. */
export function alertTone(trend: number): Tone {
  if (trend === 0) return "neutral";
  return trend > 0 ? "bad" : "good";
}

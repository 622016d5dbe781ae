import { count } from "../ui/format";

export type Tone = "good" | "bad" | "neutral";

/** trendWords is a change against seven days ago in words: "2 fewer than 7 days ago"; zero is "no change". */
export function trendWords(trend: number): string {
  if (trend === 0) return "no change";
  return `${count(Math.abs(trend))} ${trend > 0 ? "more" : "fewer"} than 7 days ago`;
}

/** alertTone judges a change in open alerts; of servers and databases neither more nor fewer is better. */
export function alertTone(trend: number): Tone {
  if (trend === 0) return "neutral";
  return trend > 0 ? "bad" : "good";
}

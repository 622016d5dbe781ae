import { plural } from "../ui/format";

type Scores = readonly (number | null)[];

/** runs are the stretches of days that have a score, as points of a line: x is the day, y the score from the top. */
export function runs(scores: Scores): [number, number][][] {
  const found: [number, number][][] = [];
  scores.forEach((score, day) => {
    if (score === null) return;
    const last = found.at(-1);
    if (last?.at(-1)?.[0] === day - 1) last.push([day, 100 - score]);
    else found.push([[day, 100 - score]]);
  });
  return found;
}

/** inWords is a line as somebody who does not see it is told of it. */
export function inWords(scores: Scores): string {
  const known = scores.filter((score) => score !== null);
  const days = plural(scores.length, "day");
  if (known.length === 0) return `No score in the last ${days}`;
  return `Score in the last ${days}: first ${known[0]}, last ${known.at(-1)}, lowest ${Math.min(...known)}; ${plural(known.length, "day")} assessed`;
}

/** least is how many points a line's height is worth at least: noise stays flat. */
const least = 14;

/** scaleOf is where the height of a line begins, and how many points it is worth; the line is in its middle. */
export function scaleOf(scores: Scores): { start: number; points: number } {
  const downs = scores.filter((score) => score !== null).map((score) => 100 - score);
  const [top, bottom] = [Math.min(...downs), Math.max(...downs)];
  const points = Math.max(least, bottom - top);
  return { start: (top + bottom - points) / 2, points };
}

/** moved is how much a score rose or fell over its days: "−27", "+5", "±0"; empty where one day is known. */
export function moved(scores: Scores): string {
  const known = scores.filter((score) => score !== null);
  if (known.length < 2) return "";
  const by = (known.at(-1) ?? 0) - (known[0] ?? 0);
  return by === 0 ? "±0" : `${by < 0 ? "−" : "+"}${Math.abs(by)}`;
}

/** ScoreLine is the score of each of the last days as a small line; a day without an assessment is a gap in it. */
export function ScoreLine({ scores, width = 90, height = 24 }: { scores: Scores; width?: number; height?: number }) {
  const x = (day: number) => 2 + (day * (width - 4)) / Math.max(1, scores.length - 1);
  const { start, points: worth } = scaleOf(scores);
  const y = (down: number) => 2 + ((down - start) * (height - 4)) / worth;
  return (
    <svg width={width} height={height} role="img" aria-label={inWords(scores)} data-score-line>
      {runs(scores).map((points) => {
        const [day, down] = points[0] as [number, number];
        return points.length === 1 ? (
          <circle key={day} cx={x(day)} cy={y(down)} r={1.75} fill="var(--mantine-primary-color-filled)" />
        ) : (
          <polyline
            key={day}
            points={points.map(([d, s]) => `${x(d)},${y(s)}`).join(" ")}
            fill="none"
            stroke="var(--mantine-primary-color-filled)"
            strokeWidth={1.5}
          />
        );
      })}
    </svg>
  );
}

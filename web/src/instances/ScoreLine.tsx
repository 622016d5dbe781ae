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

/** ScoreLine is the score of each of the last days as a small line; a day without an assessment is a gap in it. */
export function ScoreLine({ scores, width = 90, height = 24 }: { scores: Scores; width?: number; height?: number }) {
  const x = (day: number) => 2 + (day * (width - 4)) / Math.max(1, scores.length - 1);
  const y = (down: number) => 2 + (down * (height - 4)) / 100;
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

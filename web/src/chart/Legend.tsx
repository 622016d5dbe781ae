import type { Model } from "./model";
import { totalName } from "./readout";
import { partialText } from "./times";

type Props = {
  model: Model;
  /** Characters that are kept for a value and for a time, so that nothing moves as they change. */
  widths: { value: number; time: number };
  onToggle?: (key: string) => void;
};

/**
 * Legend names the series, each with its value in the bucket under the cursor, and the latest where there
 * is none. The values are written by the chart (`data-readout`), past React: 10,080 buckets under a mouse.
 */
export function Legend({ model, widths, onToggle }: Props) {
  const last = model.starts[model.starts.length - 1];
  // A second figure keeps the place of both.
  const value = (what: string | number, alone: boolean) => (
    <span className="chart-value" data-readout={what} style={alone ? { minWidth: `${widths.value}ch` } : undefined} />
  );
  const before = (what: string | number, there: boolean) =>
    there && (
      <span className="chart-before">
        {" / "}
        <span className="chart-former" data-readout={`before ${what}`} style={{ minWidth: `${widths.value}ch` }} />
      </span>
    );
  return (
    <div className="chart-legend">
      <div className="chart-bucket">
        <span data-readout="time" style={{ minWidth: `${widths.time}ch` }} />
        {model.totals && (
          <span data-series="total">
            {`${totalName(model.series, model.hidden)} `}
            {value("total", model.before.length === 0)}
            {before("total", model.before.length > 0)}
          </span>
        )}
        {model.before.length > 0 && (
          <span className="chart-before">
            <span className="chart-pale" aria-hidden /> pale line and second figure: previous window
          </span>
        )}
        {model.partial && last !== undefined && (
          <span className="chart-partial">
            <span className="chart-hatch" aria-hidden />
            {partialText(last, model.generatedAt, model.bucketSize)}
          </span>
        )}
      </div>
      <ul>
        {model.series.map((s, i) => (
          <li key={s.key} data-series={s.key}>
            {!onToggle || model.series.length === 1 ? (
              <span className="chart-key">
                <Swatch color={s.color} />
                {s.label}
              </span>
            ) : (
              <button
                type="button"
                className="chart-key"
                aria-pressed={!model.hidden.has(s.key)}
                title={`${model.hidden.has(s.key) ? "Show" : "Hide"} ${s.label}${s.hint ? `: ${s.hint}` : ""}`}
                onClick={() => onToggle(s.key)}
              >
                <Swatch color={s.color} />
                {s.label}
              </button>
            )}
            {value(i, s.before === undefined)}
            {before(i, s.before !== undefined)}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Swatch({ color }: { color: string }) {
  return <span className="chart-swatch" style={{ color }} aria-hidden />;
}

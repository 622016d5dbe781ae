import { Figures, Part, SampleTable, Sparkline } from "./parts";
import { dailyDigest as sample } from "./sampleData";

/** DailyDigest previews the Daily Operations Digest. */
export function DailyDigest() {
  return (
    <>
      <Figures figures={sample.figures} />
      <Part title="Needs attention">
        <SampleTable
          label="Needs attention"
          columns={[{ name: "What" }, { name: "Where" }, { name: "By" }]}
          rows={sample.attention.map((item) => ({ key: item.what, cells: [item.what, item.where, item.by] }))}
        />
      </Part>
      <Part title="Open connections by hour">
        <Sparkline
          values={sample.connections}
          label="Open connections by hour: 70 at night, 412 at half past ten, back to 97 at midnight"
          start="00:00"
          end="23:00"
          format={(value) => String(value)}
        />
      </Part>
    </>
  );
}

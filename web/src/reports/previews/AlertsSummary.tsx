import { Figures, PairedBars, Part, SampleTable } from "./parts";
import { alertsSummary as sample } from "./sampleData";

/** AlertsSummary previews the Alerts Summary. */
export function AlertsSummary() {
  return (
    <>
      <Figures figures={sample.figures} />
      <Part title="Raised and resolved by day">
        <PairedBars
          names={["Raised", "Resolved"]}
          entries={sample.days.map((day) => ({ name: day.name, first: day.raised, second: day.resolved }))}
          label={sample.days.map((day) => `${day.name}: ${day.raised} raised, ${day.resolved} resolved`).join("; ")}
        />
      </Part>
      <Part title="Most frequent alerts">
        <SampleTable
          label="Most frequent alerts"
          columns={[
            { name: "Alert" },
            { name: "Times", right: true },
            { name: "Total time active", right: true },
            { name: "Instances" },
          ]}
          rows={sample.repeated.map((alert) => ({
            key: alert.name,
            cells: [alert.name, alert.times, alert.active, alert.servers],
          }))}
        />
      </Part>
    </>
  );
}

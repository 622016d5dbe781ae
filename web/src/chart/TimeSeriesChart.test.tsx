import { MantineProvider } from "@mantine/core";
import { fireEvent, render, screen, within } from "@testing-library/react";
import { useState } from "react";
import { expect, test, vi } from "vitest";
import { ChangesContext } from "./changes";
import { totalName } from "./readout";
import { SeriesTable } from "./SeriesTable";
import { TimeSeriesChart } from "./TimeSeriesChart";
import type { ChartProps } from "./types";

const start = Date.UTC(2026, 10, 20, 6);
const iso = (minute: number) => new Date(start + minute * 60_000).toISOString();

const props = (change: Partial<ChartProps> = {}): ChartProps => ({
  title: "Utilization",
  group: "test",
  window: { from: iso(0), to: iso(30) },
  bucketSize: "1m",
  bucketStarts: Array.from({ length: 30 }, (_, i) => iso(i)),
  lastBucketPartial: true,
  generatedAt: new Date(start + 29 * 60_000 + 12_000).toISOString(),
  series: [
    { key: "cpu", label: "CPU", color: "blue", values: Array.from({ length: 30 }, (_, i) => (i === 4 ? null : i)) },
    { key: "disk", label: "Disk", color: "red", values: Array.from({ length: 30 }, () => 90) },
  ],
  format: (v) => `${v} %`,
  ...change,
});

const NoFlags = () => null;

const slider = (title: string) => screen.getByRole("slider", { name: `${title}, bucket` });
const index = (title: string) => screen.getByRole("figure", { name: title }).dataset.hoverIndex;
const press = (key: string, more = {}) => fireEvent.keyDown(slider("Utilization"), { key, ...more });

test("keys move the cursor of all charts of a group, and announce its place", () => {
  render(
    <>
      <TimeSeriesChart {...props()} />
      <TimeSeriesChart {...props({ title: "Short", bucketStarts: props().bucketStarts.slice(0, 8) })} />
      <TimeSeriesChart {...props({ title: "Elsewhere", group: "other" })} />
    </>,
  );
  expect(index("Utilization")).toBeUndefined();
  for (let i = 0; i < 5; i++) press("ArrowRight");
  expect([index("Utilization"), index("Short"), index("Elsewhere")]).toEqual(["4", "4", undefined]);
  expect(slider("Utilization").getAttribute("aria-valuetext")).toMatch(/06:04: CPU no data, Disk 90 %$/);
  expect(slider("Utilization").getAttribute("aria-valuenow")).toBe("4");
  press("PageUp");
  expect([index("Utilization"), index("Short")]).toEqual(["14", undefined]);
  press("ArrowLeft", { shiftKey: true });
  press("ArrowLeft");
  expect(index("Utilization")).toBe("3");
  press("End");
  expect(slider("Utilization").getAttribute("aria-valuetext")).toContain("partial (12 of 60 s): CPU 29 %");
  press("ArrowRight");
  expect(index("Utilization")).toBe("29");
  press("Home");
  expect(index("Utilization")).toBe("0");
  press("Escape");
  expect([index("Utilization"), index("Short")]).toEqual([undefined, undefined]);
});

/** Toggled keeps which series are hidden, as whoever shows a chart does. */
function Toggled(given: ChartProps) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  return <TimeSeriesChart {...given} hidden={hidden} onToggle={(key) => setHidden(new Set([...hidden, key]))} />;
}

test("a stack shows each visible value and their total", () => {
  render(<Toggled {...props({ stacked: true, lastBucketPartial: false })} />);
  press("Home");
  const legend = screen.getByRole("figure", { name: "Utilization" });
  expect(legend.querySelector("[data-readout=total]")?.textContent).toBe("90 %");
  press("ArrowRight");
  expect(legend.querySelector("[data-readout=total]")?.textContent).toBe("91 %");
  const disk = screen.getByRole("button", { name: "Disk", pressed: true });
  fireEvent.click(disk);
  expect(disk.getAttribute("aria-pressed")).toBe("false");
  expect(legend.querySelector("[data-series=total]")?.textContent).toBe("Total of CPU 1 %");
  expect(slider("Utilization").getAttribute("aria-valuetext")).toMatch(/: CPU 1 %, Total of CPU 1 %$/);
  fireEvent.click(screen.getByRole("button", { name: "CPU" }));
  expect(legend.querySelector("[data-readout=total]"), "a total of nothing").toBeNull();
});

test("a total names the excluded series if they are fewer than the included ones", () => {
  const series = ["Locks", "I/O", "Client", "Other"].map((label) => ({ key: label, label, color: "blue", values: [] }));
  expect(totalName(series, new Set())).toBe("Total");
  expect(totalName(series, new Set(["Client"]))).toBe("Total without Client");
  expect(totalName(series, new Set(["Client", "Other"]))).toBe("Total of Locks, I/O");
});

test("bands are announced to screen readers", () => {
  const bands = [
    { label: "CPU, linear scale", scale: "linear", series: ["cpu"] },
    { label: "Disk, logarithmic scale", scale: "log", series: ["disk"] },
  ] as const;
  render(<TimeSeriesChart {...props({ bands })} />);
  const notes = document.getElementById(slider("Utilization").getAttribute("aria-describedby") ?? "");
  expect(notes?.textContent).toBe("CPU, linear scaleDisk, logarithmic scale");
});

test("new figures take the place of the old ones under the cursor", () => {
  const { rerender } = render(<TimeSeriesChart {...props()} />);
  press("Home");
  const other = props();
  rerender(<TimeSeriesChart {...other} series={other.series.map((s) => ({ ...s, values: s.values.map(() => 7) }))} />);
  expect(slider("Utilization").getAttribute("aria-valuetext")).toContain("CPU 7 %");
});

test("figures that stay the same are prepared once", () => {
  const format = vi.fn((v: number) => String(v));
  const same = props({ format });
  const { rerender } = render(<TimeSeriesChart {...same} />);
  const before = format.mock.calls.length;
  rerender(<TimeSeriesChart {...same} series={same.series.map((s) => ({ ...s }))} />);
  expect(format.mock.calls.length).toBe(before);
});

test("the table holds the numbers of the chart, the latest first", () => {
  render(
    <MantineProvider>
      <SeriesTable {...props({ stacked: true })} />
    </MantineProvider>,
  );
  const rows = within(screen.getByRole("region", { name: "Utilization, as a table" })).getAllByRole("row");
  expect(rows).toHaveLength(31);
  const cells = (row: number) =>
    within(rows[row] as HTMLElement)
      .getAllByRole("cell")
      .map((c) => c.textContent);
  expect(rows[1]?.textContent).toContain("partial (12 of 60 s)");
  expect(cells(1)).toEqual(["29 %", "90 %", "119 %"]);
  expect(cells(30 - 4)).toEqual(["no data", "90 %", "90 %"]);
  expect(cells(30)).toEqual(["0 %", "90 %", "90 %"]);
});

test("the table marks the buckets of changes, and has no such column without changes", () => {
  const change = (minute: number, text: string) => ({
    id: text,
    at: start + minute * 60_000,
    kind: "deploy",
    text,
    where: "all servers",
    who: "Ana",
  });
  const all = [change(3, "first"), change(3.5, "second"), change(-1, "before the window"), change(30, "at its end")];
  const table = (changes: typeof all) => (
    <MantineProvider>
      <ChangesContext value={{ all: changes, Flags: NoFlags }}>
        <SeriesTable {...props()} />
      </ChangesContext>
    </MantineProvider>
  );
  const { rerender } = render(table(all));
  const heads = () => screen.getAllByRole("columnheader").map((head) => head.textContent);
  expect(heads()).toEqual(["Time", "CPU", "Disk", "Changes"]);
  const said = screen.getAllByRole("row").map((row) => row.textContent ?? "");
  expect(said[30 - 3]).toContain("Deployment: first, all servers, set by Ana; Deployment: second");
  expect(said.filter((text) => text.includes("Deployment"))).toHaveLength(1);
  rerender(table([change(-1, "before the window")]));
  expect(heads()).toEqual(["Time", "CPU", "Disk"]);
});

test("the table keeps a hidden series, and its total is the chart's", () => {
  render(
    <MantineProvider>
      <SeriesTable {...props({ stacked: true, hidden: new Set(["disk"]) })} />
    </MantineProvider>,
  );
  const heads = screen.getAllByRole("columnheader").map((head) => head.textContent);
  expect(heads).toEqual(["Time", "CPU", "Disk", "Total of CPU"]);
  const rows = within(screen.getByRole("region", { name: "Utilization, as a table" })).getAllByRole("row");
  const cells = within(rows[1] as HTMLElement).getAllByRole("cell");
  expect(cells.map((cell) => cell.textContent)).toEqual(["29 %", "90 %", "29 %"]);
});

test("the window before stands beside each value, in the legend, aloud and in the table", () => {
  const then = { bucketStarts: [iso(0), iso(1)], lastBucketPartial: false, stacked: true };
  const series = [
    { key: "cpu", label: "CPU", color: "blue", values: [1, 2], before: [3, null] },
    { key: "disk", label: "Disk", color: "red", values: [90, 91], before: [80, null] },
  ];
  const { unmount } = render(<TimeSeriesChart {...props({ ...then, series })} />);
  press("Home");
  expect(slider("Utilization").getAttribute("aria-valuetext")).toMatch(
    /: CPU 1 %, before 3 %, Disk 90 %, before 80 %, Total 91 %, before 83 %$/,
  );
  expect(screen.getByRole("figure").querySelector("[data-series=disk]")?.textContent).toBe("Disk90 % / 80 %");
  press("ArrowRight");
  expect(slider("Utilization").getAttribute("aria-valuetext")).toContain("CPU 2 %, before no data");
  unmount();
  render(
    <MantineProvider>
      <SeriesTable {...props({ ...then, series })} />
    </MantineProvider>,
  );
  expect(screen.getAllByRole("columnheader").map((cell) => cell.textContent)).toEqual([
    "Time",
    "CPU",
    "CPU, before",
    "Disk",
    "Disk, before",
    "Total",
  ]);
});

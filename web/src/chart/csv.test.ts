import { expect, test } from "vitest";
import { toCSV } from "./csv";

const series = (label: string, values: (number | null)[]) => ({ key: label, label, color: "blue", values });

test("each bucket is a line that ends with CRLF; no data is empty and 0 is 0", () => {
  const bucketStarts = ["2026-11-20T10:00:00Z", "2026-11-20T11:00:00Z", "2026-11-20T12:00:00Z"];
  expect(toCSV({ bucketStarts, series: [series("CPU", [41.25, null, 0]), series("Disk", [null, 2, 3])] })).toBe(
    "bucketStart,CPU,Disk\r\n2026-11-20T10:00:00Z,41.25,\r\n2026-11-20T11:00:00Z,,2\r\n2026-11-20T12:00:00Z,0,3\r\n",
  );
});

test("labels that hold separators or quotes are quoted, and start no formula", () => {
  expect(toCSV({ bucketStarts: [], series: [series("=1+1", [])] })).toBe("bucketStart,'=1+1\r\n");
  expect(toCSV({ bucketStarts: [], series: [series('Reads, "cold"', [])] })).toBe('bucketStart,"Reads, ""cold"""\r\n');
});

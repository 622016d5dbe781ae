import { cell, field } from "../ui/csv";

/** toCSV writes rows as RFC 4180 has it. */
export const toCSV = (rows: string[][]): string =>
  rows.map((row) => `${row.map((text) => field(cell(text))).join(",")}\r\n`).join("");

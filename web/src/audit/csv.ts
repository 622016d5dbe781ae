/** cell quotes a text for CSV. One that a spreadsheet would run as a formula gets an apostrophe in front. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** toCSV writes rows as RFC 4180 has it. */
export const toCSV = (rows: string[][]): string => rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");

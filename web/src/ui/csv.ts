/** unseen are the characters that spoil what is shown: controls, and those that turn text around. */
const unseen = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** formula is how a text begins that a spreadsheet would execute. */
const formula = /^(?:[\t\r\n]|[\p{White_Space}\p{Cc}\p{Cf}]*[=+\-@＝＋－＠﹦﹢﹣﹫])/u;

/**
 * cell is a text that somebody else chose, as a spreadsheet shows it and does not execute it. The
 * server has the same rule for its files (internal/report/snapshot/companion), and one table tests both.
 */
export function cell(text: string): string {
  const shown = text.replace(unseen, (c) => `‹U+${c.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}›`);
  return formula.test(text) ? `'${shown}` : shown;
}

/** field is a value of a line of CSV: RFC 4180 wants quotes around one that holds a separator. */
export const field = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

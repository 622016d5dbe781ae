import type { categories } from "../../url/categories";

export type Category = (typeof categories)[number];

export type PreviewName = "performance-sla" | "alerts-summary" | "daily-digest";

/** CardText is what the catalog says of a report. */
export type CardText = {
  category: Category;
  name: string;
  /** What is in it, in a sentence. */
  description: string;
  audience: string;
  cadence: string;
  formats: ("PDF" | "CSV")[];
};

/**
 * ReportKind is what the pages know of a report kind. The rules are those of the server (domain/report/kind_*.go); a
 * test of that package compares them.
 */
export type ReportKind = {
  card: CardText;
  /** Of a summary: the address of its preview. */
  preview?: PreviewName;
  /** In lists. */
  short: string;
  /** On the request form. */
  label: string;
  /** It covers exactly one instance. */
  oneInstance: boolean;
  /** It can be limited to one database of its instance. */
  database: boolean;
  /** The longest date range; null: it has none. */
  windowDays: number | null;
  /** Two of them can be told to say the same. */
  comparable: boolean;
  /** Of all instances it assesses the active ones alone. */
  activeOnly: boolean;
  /** Its sections: service interface §4.10. */
  contents: string[];
};

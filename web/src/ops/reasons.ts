// Why a part of what senders sent is not used: a sentence for each `reason` of muster_ingest_dropped_total.

const reasons: Record<string, string> = {
  malformed: "It is malformed",
  too_many: "Its message has more entries than one message may have",
  forbidden: "The token is limited to other servers",
  budget_exhausted: "Muster refused whole calls, because a budget is used up",
  duplicate_label: "It has a label or a member twice",
  our_own: "Muster fed it to an Alertmanager, which sent it back",
  no_labels: "It has no labels that tell it from others",
  invalid_time: "Its time is missing, ends before it starts, or is out of range",
  truncated: "The sender cut it off",
  not_used: "Muster does not show it",
  not_a_number: "Its value is NaN or infinite",
  out_of_range: "Its value is negative or too large",
  time_in_future: "Its time is more than 5 minutes ahead of Muster's clock",
  too_long: "It is too long, or a name in it is",
  no_host: "It names no host",
  incomplete: "A label or a part of its value is missing",
  unsupported: "Muster cannot read its kind, such as a delta or a histogram",
  no_instance: "It names no server of that engine, or several",
  no_database: "It names no database of its server",
  held: "Muster or another sender measures that already",
  too_late: "Its hour is closed: it came over 72 hours late",
  counted: "Another sender has counted the statements of that time",
  unknown_instance: "It is kept for its host only: muster_instance names no server",
  ambiguous: "It is used: several servers fit, and the token's own or the first one was taken",
};

/** reasonText says why something was not used. A reason that is not known here stands for itself. */
export const reasonText = (reason: string) => reasons[reason] ?? reason;

const usual = ["not_used", "our_own", "counted"];

/** isOdd says whether somebody should look. Every agent sends what Muster does not show, and senders take over from each other. */
export const isOdd = (reason: string) => !usual.includes(reason);

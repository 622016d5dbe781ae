import type { Schemas } from "../api/client";
import { bytes, plural } from "../ui/format";

/** Words is an event of a report's trail as people say it. */
export type Words = { title: string; detail?: string };

const lower = (label: string) => label.charAt(0).toLowerCase() + label.slice(1);

const text = (value: unknown) => (typeof value === "string" ? value : "");
const number = (value: unknown) => (typeof value === "number" ? value : 0);
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const part = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;

type Data = Record<string, unknown>;

/** What each event says, of its data as domain/report records it. nameOf knows the recipients. */
const tellers: Record<string, (data: Data, nameOf: (id: string) => string) => Words> = {
  queued: (d) => ({
    title: "Requested and queued",
    detail: `${text(d.scopeLabel)}, for ${plural(list(d.recipientIds).length, "recipient")}`,
  }),
  reused: (d) => ({
    title: "Requested again while being built",
    detail: [
      list(d.added).length > 0 && `${plural(list(d.added).length, "recipient")} added`,
      list(d.notAdded).length > 0 && `${list(d.notAdded).length} left out (limit of 20)`,
    ]
      .filter(Boolean)
      .join(", "),
  }),
  buildStarted: () => ({ title: "Build started" }),
  buildResumed: (d) => ({ title: `Build resumed, attempt ${number(d.attempt)}`, detail: text(d.reason) }),
  stepCompleted: (d) => ({
    title: `Built: step ${number(d.step)} of ${number(d.totalSteps)}, ${lower(text(d.label))}`,
  }),
  ready: (d) => ({
    title: "Ready",
    detail: `${text(d.fileName)}, ${plural(number(d.pages), "page")}, ${bytes(number(d.sizeBytes))}; the log stood at position ${number(part(d.witness, "position"))}`,
  }),
  signed: (d) => ({
    title: "Signed, with its proof in the PDF",
    detail: `${bytes(number(d.sizeBytes))}, key ${text(d.keyId)}`,
  }),
  failed: (d) => ({ title: "Failed", detail: `${text(d.message)} (${text(d.code)})` }),
  emailSent: (d, nameOf) => ({
    title:
      number(d.smtpCode) === 0
        ? `E-mail to ${nameOf(text(d.memberId))} kept in the outbox`
        : `E-mailed to ${nameOf(text(d.memberId))}`,
    detail: number(d.smtpCode) === 0 ? "No mail server is set" : `SMTP ${number(d.smtpCode)}`,
  }),
  emailFailed: (d, nameOf) => ({
    title: `The e-mail to ${nameOf(text(d.memberId))} failed`,
    detail: [text(d.reason), number(d.smtpCode) > 0 && `SMTP ${number(d.smtpCode)}`].filter(Boolean).join(", "),
  }),
  downloaded: (d) => ({ title: text(d.file) ? `Downloaded ${text(d.file)}` : "Downloaded" }),
  expired: () => ({ title: "Expired", detail: "The file can no longer be downloaded" }),
  inputsErased: (d) => ({
    title: "Input data deleted",
    detail: text(d.rule) === "member_erased" ? "It named a member who was erased" : "Its retention period was over",
  }),
};

/** words says an event of the trail; one that this page does not know is named as the API names it. */
export function words(entry: Schemas["TrailEntry"], nameOf: (id: string) => string): Words {
  const said = tellers[entry.type]?.(entry.data as Data, nameOf);
  return said ?? { title: entry.type };
}

import { aboutOf, typeInWords } from "./words";

/** NameOf is what an id is called: empty for somebody who was erased, undefined for what nobody knows any more. */
export type NameOf = (id: string) => string | undefined;

/** Subject is the place in a sentence of what the entry is about: the page links it. */
export type Part = { text: string; subject?: true };

type Entry = { type: string; subjectId: string | null; data: Record<string, unknown> };

/**
 * What an entry of a type says, after the name of who did it. {subject} is what it is about, {memberId} and the like are
 * what its data name. A type that is not here says its own name and its subject.
 */
const sentences: Record<string, string> = {
  signedIn: "signed in{detail}",
  signInRefused: "was refused at sign-in",
  signInThrottled: "had to wait after too many failed sign-ins",
  signedOut: "signed out",
  sessionsRevoked: "ended sessions{detail}",
  passwordChanged: "changed the password",
  passwordReset: "reset a password",
  identityLinked: "linked an account of an identity provider",
  refused: "was refused a call",
  memberInvited: "invited {memberId} as {role}",
  memberJoined: "added {memberId} as {role}",
  memberChanged: "changed {memberId}: {role}, {status}",
  memberErased: "erased a member",
  tokenMinted: "created the {kind} token {tokenId}",
  tokenRevoked: "revoked the token {tokenId}",
  assistantRead: "let an AI assistant read{detail}",
  tokenFirstUsed: "used a token for the first time{detail}",
  organizationCreated: "created the organization",
  organizationDeleted: "deleted the organization",
  watchRuleChanged: "changed a watch rule",
  organizationSettingsChanged: "changed the organization’s settings",
  queued: "requested the report {subject}",
  reused: "requested the report {subject}, which was already being built",
  buildStarted: "started to build the report {subject}",
  buildResumed: "resumed building the report {subject}",
  stepCompleted: "completed step {step} of {totalSteps} of the report {subject}",
  ready: "completed the report {subject}",
  failed: "could not build the report {subject}",
  emailSent: "e-mailed the report {subject} to {memberId}",
  emailFailed: "could not e-mail the report {subject} to {memberId}",
  downloaded: "downloaded the report {subject}",
  expired: "deleted the file of the expired report {subject}",
  fileAltered: "found a stored file that is not the recorded one{detail}",
  signed: "signed the PDF of the report {subject}",
  inputsErased: "deleted the input data of the report {subject}",
  scheduleCreated: "created the schedule {subject}",
  scheduleChanged: "changed the schedule {subject}",
  scheduleTakenOver: "took over the schedule {subject}",
  scheduleRemoved: "removed the schedule {subject}",
  scheduleRequested: "requested a report by the schedule {subject}",
  scheduleUnchanged: "found nothing new by the schedule {subject}",
  schedulePaused: "requested no report by the paused schedule {subject}",
  scheduleMissed: "could not request a report of the schedule {subject}",
  channelCreated: "added the channel {subject}",
  channelChanged: "changed the channel {subject}",
  channelRemoved: "removed the channel {subject}",
  channelTested: "tested the channel {subject}",
  teamCreated: "created the team {subject}",
  teamChanged: "changed the team {subject}",
  teamRemoved: "removed the team {subject}",
  markSet: "set the mark {subject}",
  markRemoved: "removed a mark",
  maintenanceCreated: "announced the maintenance window {subject}",
  maintenanceChanged: "changed the maintenance window {subject}",
  maintenanceEnded: "ended the maintenance window {subject} early",
  maintenanceRemoved: "removed the maintenance window {subject}",
  objectivesChanged: "changed the objectives",
  notificationRuleCreated: "created the notification rule {subject}",
  notificationRuleChanged: "changed the notification rule {subject}",
  notificationRuleRemoved: "removed the notification rule {subject}",
  deliveryRetried: "retried a delivery",
  exceptionRequested: "requested an exception to {subject}",
  findingAssigned: "assigned the finding {subject} to {assigneeId}",
  findingTicketed: "changed the ticket of the finding {subject}",
  evidenceMade: "made evidence of {checkId}",
  exceptionGranted: "granted the exception to {subject}",
  exceptionRevoked: "refused or revoked the exception to {subject}",
  instanceRegistered: "added the instance {subject}",
  instanceChanged: "changed the instance {subject}",
  instanceActivated: "activated the instance {subject}",
  instanceDeactivated: "deactivated the instance {subject}",
  instanceRemoved: "removed the instance {subject}",
  instanceGrantsDeclined: "changed which grants are declined on the instance {subject}",
  instanceTagged: "changed the tags of the instance {subject}",
  alertAcknowledged: "acknowledged the alert {subject}",
  alertMuted: "muted the alert {subject}",
  alertMutedUntil: "muted the alert {subject} until a time",
  alertUnmuted: "unmuted the alert {subject}",
  alertResolved: "resolved the alert {subject}",
  alertNoted: "wrote a note on the alert {subject}",
  rebuildRequested: "requested a rebuild{detail}",
  deadLetterRetried: "retried a dead letter",
  deadLetterDropped: "dropped a dead letter",
  eventsExported: "exported events",
  keysRotated: "rotated the keys",
  keysRevoked: "revoked a key",
  unmarkedAccepted: "accepted events without a mark",
  backupMade: "made a backup",
  backupRestored: "restored a backup",
};

const nameless: Record<string, string> = {
  memberId: "a member",
  assigneeId: "a member",
  tokenId: "that no longer exists",
};

/** An id in a text: those of old entries stand in the midst of one. */
const anID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** named puts names in the place of the ids in a text; an id that nobody knows stays. */
export const named = (text: string, nameOf: NameOf): string =>
  text.replace(anID, (id) => {
    const name = nameOf(id);
    return name === "" ? "an erased member" : (name ?? id);
  });

function value(entry: Entry, field: string, nameOf: NameOf): string {
  const raw = entry.data[field];
  if (field === "detail") return typeof raw === "string" && raw !== "" ? `: ${named(raw, nameOf)}` : "";
  if (typeof raw === "string" && field in nameless) {
    const name = nameOf(raw);
    return name === "" ? "an erased member" : (name ?? nameless[field] ?? raw);
  }
  return raw === undefined || raw === null ? "unknown" : String(raw);
}

/** subjectName is what the entry is about, by its name today, or what is left to say of it. */
function subjectName(entry: Entry, nameOf: NameOf): string {
  const own = entry.data.name ?? entry.data.checkId;
  const name = entry.subjectId === null ? undefined : nameOf(entry.subjectId);
  return name || (typeof own === "string" && own) || "that no longer exists";
}

/** particular is what an entry says whose data makes it another thing than its type says. */
function particular({ type, data }: Entry): string | undefined {
  if (type === "emailSent" && data.smtpCode === 0)
    return "kept the e-mail about the report {subject} to {memberId} in the outbox: no mail server is set";
  if (type === "findingAssigned" && !data.assigneeId) return "took the finding {subject} away from its assignee";
  if (type === "findingTicketed" && data.linked === false) return "removed the ticket of the finding {subject}";
  if (type === "channelChanged" && data.confirmedAddressId) return "confirmed an address of the channel {subject}";
  if (type === "channelChanged" && data.leftAddressId) return "took an address out of the channel {subject}";
  return undefined;
}

/** sentence is an entry in words, in parts, without who did it. */
export function sentence(entry: Entry, nameOf: NameOf): Part[] {
  const pattern =
    particular(entry) ??
    sentences[entry.type] ??
    (aboutOf(entry.type) === null ? typeInWords(entry.type) : `${typeInWords(entry.type)}: {subject}`);
  return pattern
    .split(/(\{\w+\})/)
    .filter((piece) => piece !== "")
    .map((piece) => {
      if (!piece.startsWith("{")) return { text: piece };
      const field = piece.slice(1, -1);
      return field === "subject"
        ? { text: subjectName(entry, nameOf), subject: true as const }
        : { text: value(entry, field, nameOf) };
    });
}

/** told is the same as a text. */
export const told = (entry: Entry, nameOf: NameOf): string =>
  sentence(entry, nameOf)
    .map((part) => part.text)
    .join("");

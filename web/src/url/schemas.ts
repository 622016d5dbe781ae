import { checkedEngines, engines } from "../engines";
// What each page's address may say: contract §17.
import { kinds } from "../reports/kinds";
import { intervals } from "../window/refresh";
import { isCustom, presets, type Range } from "../window/window";
import { categories } from "./categories";
import { instant, noneOf, oneOf, ordinal, search, someOf, tags, text, texts, uuid, uuids } from "./search";

/** A window is a preset, or two bounds in their order; a bound without the other, or beside a preset, is none. */
const oneWindow = ({ range, from, to }: Range): ("from" | "to")[] => {
  const bounds = (["from", "to"] as const).filter((name) => ({ from, to })[name] !== undefined);
  return isCustom({ range, from, to }) ? [] : bounds;
};

const window = { range: oneOf(...presets), from: instant, to: instant };
const scope = { ...window, owner: uuid, instanceId: uuids, tag: tags, refresh: oneOf(...intervals) };

export const statuses = ["Queued", "Building", "Ready", "Failed", "Expired"] as const;
export const severities = ["info", "warning", "critical"] as const;
/** What a notification tells of, and what comes of it. */
export const notifiedEvents = [
  ...(["alert.raised", "alert.resolved", "alert.acknowledged"] as const),
  ...(["report.ready", "report.failed", "schedule.missed"] as const),
  ...(["finding.new", "instance.down", "instance.up"] as const),
] as const;
export const deliveryStatuses = ["pending", "sent", "failed", "suppressed"] as const;
export const exceptionStatuses = ["requested", "granted", "revoked", "lapsed"] as const;
/** The dashboard's series, by the names that the API has. */
export const series = [
  ...(["active", "resolved"] as const),
  ...(["cpuPercent", "memoryPercent", "diskPercent"] as const),
  ...(["avgLatencyMs", "maxLatencyMs"] as const),
  ...(["locks", "lightweightLocks", "io", "clientNetwork", "other"] as const),
] as const;
/** What the dashboard can do without: its series, and the alerts on its charts. */
export const hidable = [...series, "alertMarks"] as const;
export const checkSeverities = ["Critical", "High", "Medium", "Low"] as const;
export const checkDomains = ["Security", "Performance", "Configuration", "Schema", "Maintenance"] as const;
export const findingStatuses = ["open", "accepted", "notAssessed"] as const;
/** What findings are grouped by; `none` is the flat list. */
export const findingGroups = ["check", "instance", "none"] as const;
const findingSorts = ["severity", "checkId", "instance", "owner", "firstSeenAt", "lastSeenAt", "dueAt"] as const;
/**
 * The figures of which the dashboard's panel says who is behind them, by the names that their contributors have; of alerts
 * and of connections `active` are firing and active ones.
 */
export const figures = [
  ...(["firing", "resolved"] as const),
  ...(["cpu", "memory", "disk"] as const),
  ...(["average", "maximum"] as const),
  ...(["all", "locks", "lightweightLocks", "io", "clientNetwork", "other"] as const),
  ...(["total", "active", "idle", "waiting"] as const),
] as const;
/** What contributors are told apart by. */
export const keys = [
  ...(["host", "volume", "instance", "database", "statement", "category", "alert"] as const),
  ...(["event", "user", "application", "client"] as const),
] as const;
const ofThisMoment: readonly string[] = ["total", "active", "idle", "waiting"];
/** `active` is every state but `inactive`. */
export const instanceStatuses = ["down", "silent", "unknown", "up", "inactive", "active"] as const;
export const instanceSorts = [
  "name",
  "owner",
  "alerts",
  "score",
  "cpu",
  "disk",
  "connections",
  "lag",
  "backup",
  "full",
  "lastSeenAt",
] as const;
const sorts = ["lastTriggeredAt", "createdAt", "severity", "state", "owner"] as const;

const dashboard = {
  ...scope,
  hide: noneOf(...hidable),
  compare: oneOf("previous"),
  who: oneOf(...figures),
  whoFrom: instant,
  whoTo: instant,
  whoBy: oneOf(...keys),
};

type Panel = { who?: string; whoFrom?: string; whoTo?: string; whoBy?: string };

/** The panel's figure has a bucket, but connections, which are of this moment; without a figure there is no panel. */
const onePanel = ({ who, whoFrom, whoTo, whoBy }: Panel): (keyof Panel)[] => {
  const given = Object.entries({ who, whoFrom, whoTo, whoBy }).flatMap(([name, value]) =>
    value === undefined ? [] : [name as keyof Panel],
  );
  if (who === undefined) return given;
  if (ofThisMoment.includes(who)) return given.filter((name) => name === "whoFrom" || name === "whoTo");
  return whoFrom !== undefined && whoTo !== undefined && whoFrom < whoTo ? [] : given;
};

export const dashboardSearch = search(dashboard, (values) => [...oneWindow(values), ...onePanel(values)]);
export const alertsSearch = search(
  {
    ...scope,
    status: oneOf("all", "open", "resolved"),
    severity: someOf(...severities),
    q: text,
    muted: oneOf("include", "exclude", "only"),
    sort: oneOf(...sorts, ...sorts.map((s) => `-${s}` as const)),
    page: ordinal,
    pageSize: ordinal,
  },
  oneWindow,
);
export const alertSearch = search(scope, oneWindow);
export const blockingSearch = search({ ...scope, page: ordinal }, oneWindow);
export const episodeSearch = search({ ...scope, at: instant }, oneWindow);
export const catalogSearch = search({ category: oneOf(...categories) });
export const historySearch = search({ kind: oneOf(...kinds), page: ordinal, status: someOf(...statuses) });
export const previewSearch = search({ instanceId: uuids, tag: tags });
export const requestSearch = search({
  kind: oneOf(...kinds),
  instanceId: uuids,
  databaseId: uuid,
  range: oneOf("7d", "30d"),
  from: instant,
  to: instant,
  recipientId: uuids,
  tag: tags,
  teamId: uuids,
});
export const schedulesSearch = search({ page: ordinal });
export const newScheduleSearch = search({
  kind: oneOf(...kinds),
  instanceId: uuids,
  databaseId: uuid,
  range: oneOf("7d", "30d"),
  recipientId: uuids,
  tag: tags,
  teamId: uuids,
});
export const scheduleSearch = search({ page: ordinal, edit: oneOf("yes") });
export const exportsSearch = search({ reportId: uuid });
export const instancesSearch = search({
  q: text,
  engine: someOf(...engines),
  instanceId: uuids,
  tag: tags,
  group: text,
  owner: uuid,
  status: oneOf(...instanceStatuses),
  sort: oneOf(...instanceSorts, ...instanceSorts.map((s) => `-${s}` as const)),
  page: ordinal,
  pageSize: ordinal,
});
export const instanceSearch = search({ ...window, q: text, page: ordinal }, oneWindow);
export const connectSearch = search({ agent: oneOf("prometheus", "vmagent", "opentelemetry", "alertmanager", "push") });
export const outboxSearch = search({ mailId: text });
export const membersSearch = search({ q: text, page: ordinal });
export const exceptionsSearch = search({ status: someOf(...exceptionStatuses), page: ordinal });
export const findingsSearch = search({
  owner: uuid,
  instanceId: uuids,
  tag: tags,
  databaseId: uuid,
  severity: someOf(...checkSeverities),
  domain: someOf(...checkDomains),
  checkId: texts,
  status: someOf(...findingStatuses),
  overdue: oneOf("true"),
  assigneeId: uuid,
  q: text,
  group: oneOf(...findingGroups),
  sort: oneOf(...findingSorts, ...findingSorts.map((s) => `-${s}` as const)),
  page: ordinal,
  pageSize: ordinal,
});
const statementSorts = ["totalMs", "calls", "meanMs", "maxMs"] as const;
export const statementsSearch = search(
  {
    ...scope,
    databaseId: uuid,
    q: text,
    only: oneOf("new", "slower"),
    own: oneOf("include"),
    sort: oneOf(...statementSorts, ...statementSorts.map((s) => `-${s}` as const)),
    page: ordinal,
    pageSize: ordinal,
  },
  oneWindow,
);
export const statementSearch = search(scope, oneWindow);
/** What sessions are told apart by; the first is what the chart of activity shows without a choice. */
export const dimensions = [
  ...(["waitClass", "waitEvent", "statement", "user", "application", "client"] as const),
  ...(["database", "instance", "state"] as const),
] as const;

type Picked = { pickedFrom?: string; pickedTo?: string };

/** A bucket of the chart has two bounds in their order. */
const onePicked = ({ pickedFrom: from, pickedTo: to }: Picked): (keyof Picked)[] => {
  if (from !== undefined && to !== undefined && from < to) return [];
  return [
    ...(from === undefined ? [] : (["pickedFrom"] as const)),
    ...(to === undefined ? [] : (["pickedTo"] as const)),
  ];
};

/** What a session does, by the names that the API has. */
export const sessionStates = ["cpu", "waiting", "idle", "idleInTransaction", "other"] as const;
export const activitySearch = search(
  {
    ...scope,
    by: oneOf(...dimensions),
    top: oneOf(...dimensions.filter((d) => d !== "waitClass")),
    idle: oneOf("include"),
    state: someOf(...sessionStates),
    user: texts,
    application: texts,
    client: texts,
    pickedFrom: instant,
    pickedTo: instant,
  },
  (values) => [...oneWindow(values), ...onePicked(values)],
);
export const checksSearch = search({
  q: text,
  engine: someOf(...checkedEngines),
  domain: someOf(...checkDomains),
  page: ordinal,
  pageSize: ordinal,
});
export const deliveriesSearch = search({
  status: someOf(...deliveryStatuses),
  channelId: uuid,
  eventType: oneOf(...notifiedEvents),
  from: instant,
  to: instant,
  cursor: text,
});
export const auditSearch = search({
  from: instant,
  to: instant,
  actorId: uuids,
  type: texts,
  buildSteps: oneOf("include", "exclude"),
  cursor: text,
});
export const objectivesSearch = search({ month: text, page: ordinal });
export const nothing = search({});

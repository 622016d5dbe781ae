// What comes of a server in its first minutes, in its order, and what is said of it meanwhile.
import type { Schemas } from "../api/client";
import { type CheckedEngine, entry } from "../engines";

type Instance = Pick<
  Schemas["Instance"],
  | "name"
  | "engine"
  | "collected"
  | "createdAt"
  | "lastSeenAt"
  | "lastAssessedAt"
  | "lastError"
  | "missingGrants"
  | "status"
  | "statusReason"
  | "parts"
>;

/** Seen is which charts have a value. Those of hosts may have one of a machine that none of the servers runs on. */
export type Seen = { sessions: boolean; statements: boolean };

export type Step = {
  key: "connected" | "sample" | "assessment" | "chart" | "statements";
  state: "there" | "awaited" | "failed";
  title: string;
  says: string;
  /** Where what is said ends with how long ago. */
  at?: string;
  leads?: "findings" | "instance" | "grants" | "agent";
};

/** Sessions are looked at every 10 s: a server that was not heard of for so long does not answer. */
const quiet = 60_000;
/** Two looks at the statements are a minute apart, the first one comes at once: later than this, something is missing. */
const overdue = 3 * 60_000;

/** What statements are counted from, and how a missing grant of it is told. */
const ofStatements: Record<CheckedEngine, { named: string; told: string[] }> = {
  postgresql: { named: "pg_stat_statements", told: ["pg_stat_statements"] },
  sqlserver: {
    named: "the query stores or the plan cache",
    told: ["statements in the plan cache", "the query store of"],
  },
  oracle: { named: "V$SQLSTATS or V$SQL", told: ["V$SQL"] },
};

/** stepsOf says of servers that were just added what is there, what is awaited and why, and what somebody has to do. */
export function stepsOf(
  instances: Instance[],
  seen: Partial<Seen> & { sampledAt: string | null },
  now: number,
): Step[] {
  if (instances.length === 0) return [];
  const collected = instances.filter((i) => i.collected);
  const hosts = instances.some((i) => i.parts.some((p) => p.part === "host" && p.state === "ok"));
  const steps = [connected(instances, now), sample({ ...seen, hosts }, collected.length > 0)];
  if (collected.length > 0) steps.push(assessment(collected));
  steps.push(chart({ ...seen, hosts }, collected.length > 0));
  if (collected.length > 0) steps.push(statements(collected, seen, now));
  return steps;
}

function connected(instances: Instance[], now: number): Step {
  const failed = instances.find((i) => i.status === "down" || i.lastError !== null);
  const times = instances.flatMap((i) => (i.lastSeenAt === null ? [] : [i.lastSeenAt])).sort();
  const last = times[times.length - 1];
  const step = { key: "connected" as const, title: "Connection" };
  if (failed) {
    return {
      ...step,
      state: "failed",
      says: `Muster cannot connect to ${failed.name}: ${sentence(failed.statusReason?.sentence ?? failed.lastError ?? "")} It goes on trying.`,
      leads: "instance",
    };
  }
  if (last === undefined) return { ...step, state: "awaited", says: "Muster has not heard from it yet." };
  if (now - Date.parse(last) > quiet) {
    return {
      ...step,
      state: "failed",
      says: "Muster cannot reach it any more. Check that it runs and that the network lets Muster through; Muster goes on trying. It answered last",
      at: last,
      leads: "instance",
    };
  }
  return { ...step, state: "there", says: "It answered", at: last };
}

function sample({ sampledAt, hosts }: { sampledAt: string | null; hosts: boolean }, collected: boolean): Step {
  const step = { key: "sample" as const, title: "First sample" };
  if (sampledAt !== null)
    return { ...step, state: "there", says: "Sessions are counted, the last ones", at: sampledAt };
  if (hosts) return { ...step, state: "there", says: "The host is measured." };
  return {
    ...step,
    state: "awaited",
    says: collected
      ? "Muster counts the sessions every ten seconds, of SQL Server every thirty."
      : "It comes when the agent sends for the first time.",
  };
}

function assessment(collected: Instance[]): Step {
  const step = { key: "assessment" as const, title: "First assessment" };
  const times = collected.flatMap((i) => (i.lastAssessedAt === null ? [] : [i.lastAssessedAt])).sort();
  if (times.length === collected.length) {
    return {
      ...step,
      state: "there",
      says: "Settings, accounts, versions and databases were checked",
      at: times[0],
      leads: "findings",
    };
  }
  const failed = collected.some((i) => i.lastAssessedAt === null && i.lastError !== null);
  if (failed) return { ...step, state: "failed", says: "It needs a connection.", leads: "instance" };
  return {
    ...step,
    state: "awaited",
    says: "Muster checks settings, accounts, versions and every database. This takes a few seconds.",
  };
}

function chart({ hosts, sessions }: Partial<Seen> & { hosts: boolean }, collected: boolean): Step {
  const step = { key: "chart" as const, title: "First minute on the charts" };
  if (hosts) return { ...step, state: "there", says: "The charts get a point a minute." };
  if (sessions) {
    return {
      ...step,
      state: "there",
      says: "The charts get a point a minute. CPU, memory and disks are not seen over the connection: an agent on the host sends them.",
      leads: "agent",
    };
  }
  return {
    ...step,
    state: "awaited",
    says: collected
      ? "Samples are put together by the minute: a few seconds after the first one."
      : "It follows the first sample within seconds.",
  };
}

function statements(collected: Instance[], { statements }: Partial<Seen>, now: number): Step {
  const step = { key: "statements" as const, title: "Statements" };
  if (statements) return { ...step, state: "there", says: "Their number and their times are measured every minute." };
  const missing = collected
    .filter((i) => entry(ofStatements, i.engine)?.told.some((o) => i.missingGrants.some((g) => g.object.includes(o))))
    .at(0);
  const late = collected.every((i) => now - Date.parse(i.createdAt) > overdue);
  if (missing || late) {
    return {
      ...step,
      state: "failed",
      says: missing
        ? `Muster may not read ${entry(ofStatements, missing.engine)?.named}.`
        : collected.every((i) => i.engine === "postgresql")
          ? "None was counted. pg_stat_statements has to be installed, and some statement has to run."
          : "None was counted. The account needs its grants, and some statement has to run.",
      leads: "grants",
    };
  }
  return {
    ...step,
    state: "awaited",
    says: "They are counted between two looks, a minute apart: the first figures come within two minutes.",
  };
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);

import { Badge, Text } from "@mantine/core";
import { IconLock } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { clockTime, count, duration, plural } from "../ui/format";
import classes from "./blocking.module.css";
import {
  type Branch,
  called,
  capital,
  type Group,
  groupsOf,
  mostGroups,
  objectName,
  type Session,
  stateOf,
  whyOf,
} from "./episode";

/** So many roots are drawn; the table has the others. */
const mostBranches = 3;

/** WaitTree draws each root with those who wait for it: the cause is first, and arrows point to who holds the lock. */
export function WaitTree({ branches, at }: { branches: Branch[]; at: string }) {
  return (
    <div className={classes.tree}>
      {branches.slice(0, mostBranches).map((branch) => (
        <div key={branch.roots[0]?.session} className={classes.branch} data-branch={branch.roots[0]?.session}>
          <section className={classes.column} aria-label={branch.cycle ? "Deadlock" : "Holds them up"}>
            <h3>{branch.cycle ? "Wait for each other" : "Holds them up"}</h3>
            <div className={classes.roots}>
              {branch.roots.map((root) => (
                <Root key={root.session} session={root} at={at} cycle={branch.cycle} />
              ))}
            </div>
          </section>
          {branch.direct.length > 0 && (
            <Waiting
              name={`${branch.direct.length === 1 ? "Waits" : "Wait"} for ${branch.cycle ? "them" : "it"}`}
              sessions={branch.direct}
              at={at}
            />
          )}
          {branch.behind.length > 0 && (
            <Waiting
              name={`${branch.behind.length === 1 ? "Waits" : "Wait"} behind ${branch.direct.length === 1 ? "that" : "those"}`}
              sessions={branch.behind}
              at={at}
            />
          )}
        </div>
      ))}
    </div>
  );
}

function Waiting({ name, sessions, at }: { name: string; sessions: Session[]; at: string }) {
  const groups = groupsOf(sessions);
  const shown = groups.length > mostGroups + 1 ? groups.slice(0, mostGroups) : groups;
  const rest = groups.slice(shown.length);
  return (
    <section className={classes.column} aria-label={name} data-waits>
      <h3>
        {name} <b>{count(sessions.length)}</b>
      </h3>
      <div className={`${classes.groups} ${classes.behind}`}>
        {shown.map((group) => (
          <Alike key={group.key} group={group} at={at} />
        ))}
        {rest.length > 0 && (
          <Text size="sm" c="dimmed">
            {plural(
              rest.reduce((sum, g) => sum + g.sessions.length, 0),
              "more session",
            )}{" "}
            in {plural(rest.length, "group")}
          </Text>
        )}
      </div>
    </section>
  );
}

/** Root is the cause: what it is called, what it does, and who that is. */
function Root({ session: s, at, cycle }: { session: Session; at: string; cycle: boolean }) {
  const state = stateOf(s, at);
  return (
    <div className={classes.root} data-root>
      <div className={classes.rootHead}>
        <bdi className={classes.rootName}>{s.application || s.user ? called(s) : capital(called(s))}</bdi>
        <Badge color="red" variant="filled" leftSection={<IconLock size={12} aria-hidden />}>
          {cycle ? "Deadlock" : "Root"}
        </Badge>
      </div>
      {state && <p className={classes.rootState}>{capital(state)}</p>}
      {s.statement !== null && (
        <>
          <Text size="xs" c="dimmed">
            {s.idleInTransaction
              ? `Last statement${s.stateSince ? `, finished ${clockTime(s.stateSince)}` : ""}`
              : "Statement"}
          </Text>
          <code className={classes.statement}>{s.statement}</code>
        </>
      )}
      <Facts
        of={[
          ["User", s.user],
          ["Client", s.client],
          ["Session", s.session],
          ["Transaction since", s.transactionSince && clockTime(s.transactionSince)],
        ]}
      />
      {!cycle && s.kind !== "client" && (
        <Text size="xs" mt={6}>
          {whyOf(s, false)}
        </Text>
      )}
    </div>
  );
}

function Facts({ of }: { of: [string, ReactNode][] }) {
  return (
    <dl className={classes.facts}>
      {of.map(([name, value]) =>
        value === null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ),
      )}
    </dl>
  );
}

/** Alike is a group of sessions: how many, and what they have in common. It opens to its sessions. */
function Alike({ group: { sessions, longest }, at }: { group: Group; at: string }) {
  const [first] = sessions;
  if (!first) return null;
  const clients = new Set(sessions.flatMap(({ client }) => client ?? []));
  const named = first.application ?? first.user;
  return (
    <details className={classes.group} data-group={sessions.length}>
      <summary>
        <span className={classes.many}>{count(sessions.length)}</span>
        <span className={classes.alike}>
          <span className={classes.alikeHead}>
            <bdi className={classes.alikeName}>
              {named ?? (sessions.length === 1 ? `session ${first.session}` : "sessions")}
            </bdi>
            {first.application !== null && first.user !== null && (
              <span className={classes.dim}>
                user <bdi>{first.user}</bdi>
              </span>
            )}
            {longest && (
              <span className={classes.longest}>
                {sessions.length > 1 && "longest "}
                {duration(Date.parse(at) - Date.parse(longest))}
              </span>
            )}
          </span>
          {first.statement !== null && <code className={classes.text}>{first.statement}</code>}
          <span className={classes.dim}>
            {[
              first.mode && `wants ${first.mode}`,
              first.object && `on ${objectName(first.object)}`,
              clients.size > 1 ? plural(clients.size, "client") : [...clients][0],
            ]
              .filter(Boolean)
              .join(" · ")}
          </span>
        </span>
      </summary>
      <ul>
        {sessions.map((s) => (
          <li key={s.session}>
            session <b>{s.session}</b>
            {s.client && (
              <>
                {" "}
                from <bdi>{s.client}</bdi>
              </>
            )}
            , waits for {s.waitsFor.join(", ")}
            {s.waitsSince && ` since ${clockTime(s.waitsSince)}`}
          </li>
        ))}
      </ul>
    </details>
  );
}

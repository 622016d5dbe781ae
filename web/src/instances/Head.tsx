import { IconAlertTriangle, IconCheck, IconMinus } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Panel } from "../ui/Panel";
import { Since, Time } from "../ui/Time";
import classes from "./head.module.css";
import type { Instance } from "./standing";

type Part = Instance["parts"][number];

/** Head is what is known of a server now, three facts that are never mixed: whether it is reachable, measured, and assessed. */
export function Head({ instance: i }: { instance: Instance }) {
  return (
    <Panel p={0} className={classes.head} data-status={i.status}>
      <dl className={classes.facts}>
        <Reachable instance={i} />
        <Why instance={i} />
        <Measured instance={i} />
        <Assessed instance={i} />
      </dl>
    </Panel>
  );
}

function Cell({ name, children, wide = false }: { name: string; children: ReactNode; wide?: boolean }) {
  return (
    <div className={classes.cell} data-wide={wide || undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const tried = (i: Instance) => i.triedAt && <Time at={i.triedAt} relative />;

function Reachable({ instance: i }: { instance: Instance }) {
  const since = i.statusSince && <Since at={i.statusSince} />;
  switch (i.status) {
    case "up":
      return (
        <Cell name="Reachable">
          <b>Up</b> {since}
          {i.triedAt && <Under>asked {tried(i)}</Under>}
        </Cell>
      );
    case "down":
      return (
        <Cell name="Reachable">
          <b className={classes.bad}>Down</b> <span className={classes.bad}>{since}</span>
          <Under>
            {i.statusReason?.seen} {i.triedAt && <>Tried {tried(i)}.</>}
          </Under>
        </Cell>
      );
    case "inactive":
      return (
        <Cell name="Reachable">
          <b>Not asked</b>
          <Under>Switched off: Muster does not watch it.</Under>
        </Cell>
      );
    case "silent":
    case "unknown":
      return (
        <Cell name="Reachable">
          <b>Not known</b> {since}
          {i.collected || i.agent ? null : <Under>Muster has no connection of its own to it.</Under>}
        </Cell>
      );
  }
}

/** Why is what explains the state, where it is not up: the server's own words, or who has not been heard. */
function Why({ instance: i }: { instance: Instance }) {
  if (!i.statusReason) return null;
  const { said, seen } = i.statusReason;
  if (i.status === "down") {
    if (!said) return null;
    return (
      <Cell name={said.last ? "Its last words" : "It says now"} wide>
        <code className={classes.said}>
          {said.code} {said.words}
        </code>
      </Cell>
    );
  }
  return (
    <Cell name={i.status === "silent" ? "Last heard" : "Why"} wide>
      {i.status === "silent" && i.statusSince && (
        <b>
          <Time at={i.statusSince} />
        </b>
      )}
      {i.status === "silent" ? <Under>{seen}</Under> : <b>{seen}</b>}
    </Cell>
  );
}

const partIcons = { ok: IconCheck, failed: IconAlertTriangle, notMeasured: IconMinus };
const partWords = { ok: "measured", failed: "failed", notMeasured: "not measured" };

function Measured({ instance: i }: { instance: Instance }) {
  const parts = i.parts.filter((p) => p.part !== "assessment" && p.database === null);
  const noted = parts.filter((p) => p.sentence !== null && p.state !== "failed");
  const errors = i.lastErrors.filter((e) => e.part !== "assessment");
  const host = parts.find((p) => p.part === "host");
  return (
    <Cell name="Measured" wide>
      <ul className={classes.parts}>
        {parts.map((p) => (
          <PartMark key={p.part} part={p} />
        ))}
      </ul>
      {noted.map((p) => (
        <Under key={p.part}>
          {p.part}: {p.sentence}
        </Under>
      ))}
      {errors.map((e) => (
        <LastError key={`${e.part} ${e.database}`} error={e} />
      ))}
      {i.status === "down" && host?.state === "ok" && (
        <Under>The host is measured: it is the server that is down.</Under>
      )}
      {i.status !== "up" && host?.state === "notMeasured" && host.since && (
        <Under>
          host last <Time at={host.since} relative />
        </Under>
      )}
    </Cell>
  );
}

/** LastError says why a part cannot be measured, with the server's own code, and since when. */
function LastError({ error: e }: { error: Instance["lastErrors"][number] }) {
  return (
    <Under>
      {e.part}
      {e.database && (
        <>
          {" "}
          of <bdi>{e.database}</bdi>
        </>
      )}
      : {e.sentence} {/\d/.test(e.code) && <>({e.code}) </>}First failed <Time at={e.since} relative />.
    </Under>
  );
}

function PartMark({ part: p }: { part: Part }) {
  const Icon = partIcons[p.state];
  return (
    <li data-part={p.part} data-state={p.state}>
      <Icon size={15} aria-hidden />
      {p.part}
      <span className="visually-hidden">: {partWords[p.state]}</span>
    </li>
  );
}

function Assessed({ instance: i }: { instance: Instance }) {
  const failed = i.parts.find((p) => p.part === "assessment" && p.state === "failed");
  return (
    <Cell name="Assessed">
      {i.lastAssessedAt ? (
        <b>
          <Time at={i.lastAssessedAt} relative />
        </b>
      ) : (
        <b>{i.collected || i.agent ? "Not yet" : "–"}</b>
      )}
      {!i.lastAssessedAt && !i.collected && !i.agent && <Under>Not assessed: data comes from a feed.</Under>}
      {failed && i.status !== "down" && <Under>{failed.sentence}</Under>}
      {i.status === "down" && <Under>Assessed again when it is up.</Under>}
      {i.lastClassifiedAt && (
        <Under>
          columns classified <Time at={i.lastClassifiedAt} relative />
        </Under>
      )}
    </Cell>
  );
}

function Under({ children }: { children: ReactNode }) {
  return <span className={classes.under}>{children}</span>;
}

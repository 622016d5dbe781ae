import { Anchor, Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import { wordOf } from "../instances/reason";
import { type Status, statusIcons, statusNames } from "../instances/states";
import { absoluteTime, ago, count, lasting, plural, sinceWhen } from "../ui/format";
import { useNow } from "../ui/now";
import type { Filter } from "../window/query";
import { useScope } from "../window/scope";
import classes from "./states.module.css";
import { Told } from "./Told";
import type { Shown, Troubled } from "./troubled";

/** Trouble is the servers that are not up, the worst first. So many are active in all. */
export function Trouble({ active, together, named, others }: Troubled & { active: number }) {
  const { filter } = useScope();
  if (together.length + named.length === 0) return null;
  const first = together.length === 0 ? named[0]?.id : undefined;
  return (
    <section className={classes.trouble} aria-label="Servers that are not up" data-trouble={named[0]?.status ?? "down"}>
      {together.length > 0 && <Together down={together} active={active} filter={filter} />}
      {named.map((i) =>
        i.status === "down" ? (
          <Down key={i.id} instance={i} first={i.id === first} />
        ) : (
          <Quiet key={i.id} instance={i} />
        ),
      )}
      {others.length > 0 && (
        <p className={classes.others}>
          {plural(
            others.reduce((sum, [, n]) => sum + n, 0),
            "more server",
          )}
          :{" "}
          {others.map(([status, n], at) => (
            <Fragment key={status}>
              {at > 0 && ", "}
              <Anchor
                inherit
                underline="always"
                renderRoot={(props) => <Link to="/instances" search={{ status, ...filter }} {...props} />}
              >
                {count(n)} {statusNames[status].toLowerCase()}
              </Anchor>
            </Fragment>
          ))}
        </p>
      )}
    </section>
  );
}

function Row({ status, children, beside }: { status: Status; children: ReactNode; beside: ReactNode }) {
  const Icon = statusIcons[status];
  return (
    <div className={classes.row} data-state={status}>
      <span className={classes.tile}>
        <Icon size={20} stroke={1.7} aria-hidden />
      </span>
      <div className={classes.words}>{children}</div>
      <div className={classes.beside}>{beside}</div>
    </div>
  );
}

function Down({ instance: i, first }: { instance: Shown; first: boolean }) {
  const said = i.statusReason?.said;
  const word = i.statusReason && wordOf(i.statusReason.code);
  return (
    <Row
      status="down"
      beside={
        <>
          <Told instanceId={i.id} />
          <Open instance={i} filled={first} />
        </>
      }
    >
      <h2 className={classes.name}>
        <bdi>{i.name}</bdi> is down{word && `, ${word}`}{" "}
        {i.statusSince && (
          <span className={classes.since}>
            since <Moment at={i.statusSince} words={lately} />
          </span>
        )}
      </h2>
      <p className={classes.why}>
        {i.statusReason?.seen}
        {i.triedAt && (
          <>
            {" "}
            Tried <Moment at={i.triedAt} words={ago} />.
          </>
        )}
        {said && (
          <>
            {" "}
            {said.last ? "Its last words:" : "It says:"}{" "}
            <code className={classes.said}>
              {said.code} {said.words}
            </code>
          </>
        )}
      </p>
    </Row>
  );
}

function Quiet({ instance: i }: { instance: Shown }) {
  return (
    <Row status={i.status} beside={<Open instance={i} />}>
      <h2 className={classes.name}>
        <bdi>{i.name}</bdi> is {statusNames[i.status].toLowerCase()}{" "}
        {i.statusSince && (
          <span className={classes.since}>
            since <Moment at={i.statusSince} words={lately} />
          </span>
        )}
      </h2>
      {i.statusReason && <p className={classes.why}>{i.statusReason.seen}</p>}
    </Row>
  );
}

/** Together is one row for the many that went away at once: what they share is looked for first. */
function Together({ down, active, filter }: { down: Shown[]; active: number; filter: Filter }) {
  const latest = down[0]; // the newest first
  const reasons = new Map<string, number>();
  for (const i of down) {
    const code = i.statusReason?.code ?? "";
    const reason = code === "refused" ? "connection refused" : (wordOf(code) ?? code);
    if (reason) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const most = [...reasons].sort(([, a], [, b]) => b - a);
  return (
    <Row
      status="down"
      beside={
        <>
          {latest && <Told instanceId={latest.id} />}
          <Button
            size="xs"
            renderRoot={(props) => <Link to="/instances" search={{ status: "down", ...filter }} {...props} />}
          >
            Show them
          </Button>
        </>
      }
    >
      <h2 className={classes.name}>
        {count(down.length)} of {plural(active, "server")} are down{" "}
        {latest?.statusSince && (
          <span className={classes.since}>
            the last one since <Moment at={latest.statusSince} words={sinceWhen} />
          </span>
        )}
      </h2>
      <p className={classes.why}>
        {most.map(([reason, n]) => `${count(n)} ${reason}`).join(", ")}. Check what they share: the network, a host, a
        storage.
      </p>
    </Row>
  );
}

function Open({ instance: i, filled = false }: { instance: Shown; filled?: boolean }) {
  return (
    <Button
      size="xs"
      variant={filled ? "filled" : "default"}
      aria-label={`Open server ${i.name}`}
      renderRoot={(props) => <Link to="/instances/$instanceId" params={{ instanceId: i.id }} {...props} />}
    >
      Open server
    </Button>
  );
}

const lately = (at: string, now: Date) => `${sinceWhen(at, now)}, ${lasting(at, now)}`;

/** Moment is a time without the code that shows tooltips: the card is in the page's first frame. */
function Moment({ at, words }: { at: string; words: (at: string, now: Date) => string }) {
  const now = useNow(10_000);
  return (
    <time dateTime={at} title={absoluteTime(at)} className="numbers" style={{ whiteSpace: "nowrap" }}>
      {words(at, now)}
    </time>
  );
}

import { Anchor, Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Fragment, type ReactNode } from "react";
import { saidOf, wordOf } from "../instances/reason";
import { type Instance, statusIcons, statusNames } from "../instances/states";
import { count, plural } from "../ui/format";
import { Since, Time } from "../ui/Time";
import { useScope } from "../window/scope";
import classes from "./states.module.css";
import { Told } from "./Told";
import type { Troubled } from "./troubled";

/** Trouble is the servers that are not up, the worst first. */
export function Trouble({ of, together, named, others }: Troubled & { of: Instance[] }) {
  const { instanceIds } = useScope();
  const first = together.length === 0 ? named[0]?.id : undefined;
  return (
    <section className={classes.trouble} aria-label="Servers that are not up" data-trouble={named[0]?.status ?? "down"}>
      {together.length > 0 && <Together down={together} of={of} instanceIds={instanceIds} />}
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
                renderRoot={(props) => <Link to="/instances" search={{ status, instanceId: instanceIds }} {...props} />}
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

function Row({ status, children, beside }: { status: Instance["status"]; children: ReactNode; beside: ReactNode }) {
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

function Down({ instance: i, first }: { instance: Instance; first: boolean }) {
  const said = i.statusReason && saidOf(i.statusReason);
  const word = i.statusReason && wordOf(i.statusReason.code);
  return (
    <Row
      status="down"
      beside={
        <>
          {i.statusSince && <Told instanceId={i.id} since={i.statusSince} />}
          <Open instance={i} filled={first} />
        </>
      }
    >
      <h2 className={classes.name}>
        <bdi>{i.name}</bdi> is down{word && `, ${word}`}{" "}
        {i.statusSince && (
          <span className={classes.since}>
            <Since at={i.statusSince} />
          </span>
        )}
      </h2>
      <p className={classes.why}>
        {said?.sentence}
        {i.triedAt && (
          <>
            {" "}
            Tried <Time at={i.triedAt} relative />.
          </>
        )}
        {said?.words && (
          <>
            {" "}
            {said.last ? "Its last words:" : "It says:"} <code className={classes.said}>{said.words}</code>
          </>
        )}
      </p>
    </Row>
  );
}

function Quiet({ instance: i }: { instance: Instance }) {
  return (
    <Row status={i.status} beside={<Open instance={i} />}>
      <h2 className={classes.name}>
        <bdi>{i.name}</bdi> is {statusNames[i.status].toLowerCase()}{" "}
        {i.statusSince && (
          <span className={classes.since}>
            <Since at={i.statusSince} />
          </span>
        )}
      </h2>
      {i.statusReason && <p className={classes.why}>{i.statusReason.sentence}</p>}
    </Row>
  );
}

/** Together is one row for the many that went away at once: what they share is looked for first. */
function Together({ down, of, instanceIds }: { down: Instance[]; of: Instance[]; instanceIds: string[] | undefined }) {
  const active = of.filter((i) => i.status !== "inactive").length;
  const latest = down[0]; // the newest first
  const reasons = new Map<string, number>();
  for (const i of down) {
    const code = i.statusReason?.code ?? "";
    const reason = code === "refused" ? "connection refused" : (wordOf(code) ?? code);
    if (reason) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  return (
    <Row
      status="down"
      beside={
        <Button
          size="xs"
          renderRoot={(props) => (
            <Link to="/instances" search={{ status: "down", instanceId: instanceIds }} {...props} />
          )}
        >
          Show them
        </Button>
      }
    >
      <h2 className={classes.name}>
        {count(down.length)} of {plural(active, "server")} are down{" "}
        {latest?.statusSince && (
          <span className={classes.since}>
            the last one <Since at={latest.statusSince} />
          </span>
        )}
      </h2>
      <p className={classes.why}>
        {[...reasons].map(([reason, n]) => `${count(n)} ${reason}`).join(", ")}. Check what they share: the network, a
        host, a storage.
      </p>
    </Row>
  );
}

function Open({ instance: i, filled = false }: { instance: Instance; filled?: boolean }) {
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

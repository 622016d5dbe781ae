import { Anchor, Text, UnstyledButton } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { serverNow } from "../api/clock";
import { windowAround } from "../dashboard/contributors";
import { OnlyServer } from "../instances/OnlyServer";
import { StatementName } from "../statements/Texts";
import { useScope } from "../window/scope";
import classes from "./activity.module.css";
import { type Dimension, dimensionNames, type Narrowing, narrowedBy, type Row } from "./query";

/** Narrow narrows the page to sessions of a state, a user, an application or a client. */
export type Narrow = (by: Narrowing, value: string) => void;

type Props = { by: Dimension; row: Row; picked: { from: string; to: string } | null; onNarrow: Narrow };

/**
 * Name is what a row is of, and leads to its page where it has one: a statement, a server, the statements of a database.
 * A user, an application, a client and a state narrow the page to themselves.
 */
export function Name({ by, row: { item, name }, picked, onNarrow }: Props) {
  const { search } = useScope();
  const [now] = useState(serverNow);
  const { range, from, to } = search;
  const { instance, statement, database } = item;
  const around = picked ? { range: undefined, ...windowAround(picked.from, picked.to, now) } : {};
  if (by === "statement" && statement) {
    return (
      <Anchor
        className={classes.target}
        renderRoot={(props) => (
          <Link
            to="/statements/$statementId"
            params={{ statementId: statement.id }}
            search={{ ...search, ...around }}
            {...props}
          />
        )}
      >
        <StatementName id={statement.id} text={statement.text} />
      </Anchor>
    );
  }
  if (by === "instance" && instance && !instance.removed) {
    return (
      <Anchor
        className={classes.target}
        renderRoot={(props) => (
          <Link
            to="/instances/$instanceId"
            params={{ instanceId: instance.id }}
            search={{ range, from, to, ...around }}
            {...props}
          />
        )}
      >
        <bdi>{name}</bdi>
      </Anchor>
    );
  }
  if (by === "database" && database && instance && !instance.removed) {
    return (
      <Anchor
        className={classes.target}
        aria-label={`Statements of database ${name} of ${instance.name}`}
        renderRoot={(props) => (
          <Link
            to="/statements"
            search={{ ...search, instanceId: [instance.id], databaseId: database.id, ...around } as never}
            {...props}
          />
        )}
      >
        <bdi>{name}</bdi>
      </Anchor>
    );
  }
  const narrows = narrowedBy(by, item);
  if (narrows) {
    return (
      <UnstyledButton
        className={`${classes.target} ${classes.narrows}`}
        aria-label={`Only ${dimensionNames[by].one} ${name}`}
        onClick={() => onNarrow(narrows.by, narrows.value)}
      >
        <bdi>{name}</bdi>
      </UnstyledButton>
    );
  }
  const told = item.known || by === "waitEvent";
  return (
    <span className={told ? classes.name : classes.untold}>
      <bdi>{name}</bdi>
      {instance?.removed && by === "instance" && " (removed)"}
    </span>
  );
}

/** Where is the server of a row, which narrows the page to itself, and the database. */
export function Where({ by, row: { item, where } }: Pick<Props, "by" | "row">) {
  const { setServers } = useScope();
  const { instance, database } = item;
  if (where === null || !instance) return null;
  return (
    <Text size="xs" c="dimmed" component="div">
      <OnlyServer instance={instance} onChoose={(id) => setServers({ instanceId: [id] })} />
      {by === "statement" && database && (
        <>
          {" · "}
          <bdi>{database.name}</bdi>
        </>
      )}
    </Text>
  );
}

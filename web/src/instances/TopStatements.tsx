import { Anchor, Group, Text } from "@mantine/core";
import { keepPreviousData } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "../api/client";
import { asProblem } from "../api/problem";
import { notKeptSince } from "../dashboard/contributors";
import { type CheckedEngine, entry } from "../engines";
import { Changed } from "../statements/Changed";
import { Figure, milliseconds, Share, wholeNumber } from "../statements/figures";
import { StatementLink } from "../statements/StatementLink";
import { NoTexts } from "../statements/Texts";
import { shortTime } from "../ui/format";
import { useScope } from "../window/scope";
import { Few } from "./Few";
import classes from "./face.module.css";
import type { Instance } from "./standing";

const five = 5;

/** TopStatements are those on which a server spent most of its time, in the window of the page's charts. */
export function TopStatements({ instance }: { instance: Instance }) {
  const { window, search } = useScope();
  const asked = api.useQuery(
    "get",
    "/api/v1/statements",
    {
      params: {
        query: { from: window.from, to: window.to, instanceId: [instance.id], sort: "-totalMs", pageSize: five },
      },
    },
    { placeholderData: keepPreviousData },
  );
  const since = asked.isError ? notKeptSince(asProblem(asked.error).errors) : null;
  const data = since === null ? asked.data : undefined;
  const list = { instanceId: [instance.id] };
  return (
    <Few
      title="Top statements"
      asked={since === null ? asked : { ...asked, data: true, error: null }}
      none={
        since === null ? (
          <None instance={instance} incomplete={data?.incomplete} />
        ) : (
          `Single statements are kept since ${shortTime(since)}.`
        )
      }
      note={data && data.items.length > 0 && <NoTexts mt="sm" mb={0} />}
      all={
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="/statements" search={{ ...search, ...list } as never} {...props} />}
        >
          All statements of this server
        </Anchor>
      }
    >
      {(data?.items ?? []).map((s) => (
        <div key={s.id} className={classes.statement} data-statement={s.id}>
          <div className={classes.statementName}>
            <StatementLink statement={s} list={list} />
            <Group gap={6}>
              <Text size="xs" c="dimmed" style={{ overflowWrap: "anywhere" }}>
                <bdi>{s.database.name}</bdi>
              </Text>
              <Changed statement={s} />
            </Group>
          </div>
          <Figure name="calls" value={wholeNumber(s.calls)} />
          <Figure name="mean" value={milliseconds(s.meanMs)} />
          <div className={classes.statementShare}>
            <Share share={s.share} of="its time" />
          </div>
        </div>
      ))}
    </Few>
  );
}

const needed: Record<CheckedEngine, string> = {
  postgresql: "PostgreSQL needs the extension pg_stat_statements for that.",
  sqlserver:
    "Of SQL Server that needs VIEW SERVER STATE; what the query stores and the plan cache leave out is not there.",
  oracle: "Of Oracle that needs SELECT on V$SQLSTATS_PLAN_HASH and V$SQL.",
};

/** None says why there are no statements, as far as that is known. */
function None({ instance: i, incomplete = false }: { instance: Instance; incomplete?: boolean }) {
  if (incomplete) return "The statements of its engine could not be read.";
  const needs = entry(needed, i.engine);
  return (
    <>
      No statement is known of this window: none was executed, or this server does not tell of them.
      {needs && ` ${needs}`}
    </>
  );
}

import { Box, Paper, Skeleton, Stack, Table, Text } from "@mantine/core";
import { IconLockOpen } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../api/client";
import { EmptyState } from "../ui/EmptyState";
import { count, duration, shortTime } from "../ui/format";
import { useNarrow } from "../ui/narrow";
import { NoSuchPage, Pager } from "../ui/Pager";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { useScope } from "../window/scope";
import classes from "./blocking.module.css";
import { Deadlocks } from "./Deadlocks";
import { EpisodeLine, EpisodeLink } from "./EpisodeLine";
import { type Episode, objectOf } from "./episode";
import { useSampled } from "./sampled";

const size = 20;

/** BlockingPage is who held whom up in the window, the newest first. */
export function BlockingPage() {
  const search = useSearch({ from: "/blocking" });
  const navigate = useNavigate();
  const { window, servers, matchesNothing } = useScope();
  const narrow = useNarrow();
  const asked = api.useQuery(
    "get",
    "/api/v1/blocking",
    { params: { query: { from: window.from, to: window.to, page: search.page ?? 1, pageSize: size, ...servers } } },
    { enabled: !matchesNothing, placeholderData: keepPreviousData },
  );
  const turn = (page: number) =>
    navigate({
      to: ".",
      resetScroll: false,
      search: ((before: object) => ({ ...before, page: page === 1 ? undefined : page })) as never,
    });
  const { data } = asked;
  return (
    <>
      <PageTitle
        title="Blocking"
        lead={`Who held up whom from ${shortTime(window.from)} to ${shortTime(window.to)}: each time in which a session waited two seconds or longer for a lock of another one.`}
      />
      {asked.error && (
        <ProblemNote
          error={asked.error}
          title={data ? "Not up to date" : "Blocking could not be loaded"}
          onRetry={asked.refetch}
        />
      )}
      {!data && !asked.error && !matchesNothing && (
        <Panel p="sm">
          <Stack gap="sm" role="status" aria-label="Loading blocking">
            {Array.from({ length: 6 }, (_, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows without anything in them have nothing else
              <Skeleton key={n} height={44} />
            ))}
          </Stack>
        </Panel>
      )}
      {(matchesNothing || data?.page.totalItems === 0) && (
        <Panel>
          <Nothing />
        </Panel>
      )}
      {data && data.page.totalItems > 0 && data.items.length === 0 && (
        <Panel>
          <NoSuchPage
            icon={<IconLockOpen size={32} aria-hidden />}
            total={data.page.totalItems}
            what="episodes"
            toFirst={() => turn(1)}
          />
        </Panel>
      )}
      {data && data.items.length > 0 && (
        <>
          {data.items[0]?.root.hidden && (
            <Text size="sm" c="dimmed" mb="sm" data-hidden>
              Users, applications, clients and statements are hidden for your role.
            </Text>
          )}
          {narrow ? (
            <Panel>
              <Stack gap="xs">
                {data.items.map((e) => (
                  <EpisodeLine key={e.id} episode={e} server />
                ))}
              </Stack>
            </Panel>
          ) : (
            <EpisodeTable episodes={data.items} busy={asked.isFetching} />
          )}
          <Pager page={data.page} what="episodes" onTurn={turn} />
        </>
      )}
      <Box mt="md">
        <Deadlocks />
      </Box>
      <Text className="visually-hidden" role="status">
        {data && `${count(data.page.totalItems)} episodes`}
      </Text>
    </>
  );
}

/** Nothing says that nobody waited, or that it is not known: what nobody looked at is no zero. */
function Nothing() {
  const sampled = useSampled();
  const icon = <IconLockOpen size={32} aria-hidden />;
  if (sampled === null) return <Skeleton height={80} />;
  return sampled ? (
    <EmptyState icon={icon} title="No session waited for another in this window">
      Muster looks at the sessions of each server every few seconds. Shorter waits may stay unseen.
    </EmptyState>
  ) : (
    <EmptyState icon={icon} title="No sessions were sampled in this window">
      So it is not known whether a session waited for another one. Muster needs to see the sessions of all users: on
      PostgreSQL that is pg_monitor, on SQL Server VIEW SERVER STATE, on Oracle SELECT on V$SESSION.
    </EmptyState>
  );
}

function EpisodeTable({ episodes, busy }: { episodes: Episode[]; busy: boolean }) {
  return (
    <Paper withBorder>
      <Table.ScrollContainer minWidth={820} type="native" tabIndex={0} role="region" aria-label="Blocking">
        <Table highlightOnHover verticalSpacing="sm" horizontalSpacing="sm" aria-busy={busy} aria-label="Blocking">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Who held up whom</Table.Th>
              <Table.Th scope="col">Server</Table.Th>
              <Table.Th scope="col">Waited for</Table.Th>
              <Table.Th scope="col">From</Table.Th>
              <Table.Th scope="col">Lasted</Table.Th>
              <Table.Th scope="col" className={classes.number}>
                Sessions, at most
              </Table.Th>
              <Table.Th scope="col" className={classes.number}>
                Waiting, all together
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {episodes.map((e) => (
              <Table.Tr key={e.id} data-episode={e.id} style={{ verticalAlign: "top" }}>
                <Table.Td w="38%">
                  <EpisodeLink episode={e} />
                </Table.Td>
                <Table.Td style={{ whiteSpace: "nowrap" }}>
                  <bdi>{e.instance.name}</bdi>
                  {e.database !== null && (
                    <Text size="xs" c="dimmed">
                      <bdi>{e.database}</bdi>
                    </Text>
                  )}
                </Table.Td>
                <Table.Td>
                  <bdi>{objectOf(e) ?? e.lock ?? "–"}</bdi>
                </Table.Td>
                <Table.Td>
                  <Time at={e.from} />
                </Table.Td>
                <Table.Td style={{ whiteSpace: "nowrap" }}>
                  {e.to === null ? (
                    <span className={classes.now}>going on</span>
                  ) : (
                    duration(Date.parse(e.to) - Date.parse(e.from))
                  )}
                </Table.Td>
                <Table.Td className={classes.number}>{count(e.maxBlocked)}</Table.Td>
                <Table.Td className={classes.number}>{duration(1_000 * e.blockedSeconds)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  );
}

import { Anchor, Button, Chip, Group, Input, NativeSelect, Skeleton, Stack, Text, UnstyledButton } from "@mantine/core";
import { IconFileCode, IconFilterOff } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useCallback } from "react";
import { api, type Schemas } from "../api/client";
import { asProblem } from "../api/problem";
import { notKeptSince } from "../dashboard/contributors";
import { SearchField } from "../instances/SearchField";
import { EmptyState } from "../ui/EmptyState";
import { count, measuredEngines, plural, shortTime } from "../ui/format";
import { NotAvailable } from "../ui/NotAvailable";
import { useNarrow } from "../ui/narrow";
import { NoSuchPage, Pager, usualSize } from "../ui/Pager";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { useScope } from "../window/scope";
import {
  defaultSort,
  isFiltered,
  mostStatements,
  noFilters,
  type Sort,
  type StatementsSearch,
  statementsQuery,
} from "./query";
import { type Change, StatementCards, StatementTable } from "./StatementTable";
import { NoTexts, useTexts } from "./Texts";

type Answer = Schemas["StatementPage"];

/** StatementsPage is what the servers executed in the window, dearest first: narrowed, searched, ordered by the address. */
export function StatementsPage() {
  const search = useSearch({ from: "/statements" }) as StatementsSearch;
  const navigate = useNavigate();
  const change: Change = useCallback(
    (next, { replace = false } = {}) =>
      navigate({
        to: ".",
        search: ((previous: StatementsSearch) => ({ ...previous, page: undefined, ...next })) as never,
        replace,
        resetScroll: false,
      }),
    [navigate],
  );
  const { window, servers, matchesNothing } = useScope();
  const texts = useTexts();
  const narrow = useNarrow();
  const asked = api.useQuery(
    "get",
    "/api/v1/statements",
    { params: { query: statementsQuery(search, { window, servers, texts: texts.kept }) } },
    { enabled: !matchesNothing, placeholderData: keepPreviousData },
  );
  const sort = search.sort ?? defaultSort;
  const onSort = (next: Sort) => change({ sort: next === defaultSort ? undefined : next });
  const since = asked.isError ? notKeptSince(asProblem(asked.error).errors) : null;
  const data = since === null ? asked.data : undefined;
  return (
    <>
      <PageTitle title="Statements" lead={<Lead answer={matchesNothing ? undefined : data} />} />
      <NoTexts />
      <Panel mb="md">
        <Filters search={search} change={change} sort={narrow ? sort : null} onSort={onSort} searches={texts.kept} />
      </Panel>
      {matchesNothing ? (
        <Nothing search={search} change={change} total={0} />
      ) : since !== null ? (
        <NotKept since={since} search={search} change={change} />
      ) : (
        <>
          {asked.error && (
            <ProblemNote
              error={asked.error}
              title={data ? "Not up to date" : "Statements could not be loaded"}
              onRetry={asked.refetch}
            />
          )}
          {!data && !asked.error && <Loading rows={narrow ? 5 : 12} />}
          {data && <NotAvailable missing={data.unavailable} />}
          {data && data.items.length === 0 && (
            <>
              <Nothing search={search} change={change} total={data.page.totalItems} />
              <Own hidden={data.ownStatements} search={search} change={change} />
            </>
          )}
          {data && data.items.length > 0 && (
            <List data={data} search={search} change={change} busy={asked.isFetching} narrow={narrow} onSort={onSort} />
          )}
        </>
      )}
    </>
  );
}

function Lead({ answer }: { answer: Answer | undefined }) {
  if (!answer) return "Statements that your instances executed in the window and in the one before.";
  const engines = measuredEngines(answer);
  return (
    <>
      What was executed from {shortTime(answer.from)} to {shortTime(answer.to)}
      {engines && <>, on {engines}</>}
      {answer.previousFrom === null && ". The window before is not kept"}.
      {answer.incomplete && (
        <Text span inherit fw={600} c="var(--mantine-color-error)" role="alert">
          {" "}
          Incomplete: a database engine could not be read, and its statements are missing here.
        </Text>
      )}
    </>
  );
}

type ListProps = {
  data: Answer;
  search: StatementsSearch;
  change: Change;
  busy: boolean;
  narrow: boolean;
  onSort: (sort: Sort) => void;
};

function List({ data, search, change, busy, narrow, onSort }: ListProps) {
  const rows = {
    statements: data.items,
    previousFrom: data.previousFrom,
    list: search,
    busy,
    change,
  };
  return (
    <>
      {narrow ? (
        <StatementCards {...rows} />
      ) : (
        <StatementTable {...rows} sort={search.sort ?? defaultSort} onSort={onSort} />
      )}
      <Pager
        page={data.page}
        what="statements"
        most={mostStatements}
        onTurn={(page) => change({ page: page === 1 ? undefined : page })}
        onSize={(size) => change({ pageSize: size === usualSize ? undefined : size })}
      />
      <Own hidden={data.ownStatements} search={search} change={change} />
      <Text className="visually-hidden" role="status">
        {count(data.page.totalItems)} statements
      </Text>
    </>
  );
}

/** Own counts the statements by which Muster watches, and shows or hides them. */
function Own({ hidden, search, change }: { hidden: number | null; search: StatementsSearch; change: Change }) {
  if (!hidden && !search.own) return null;
  return (
    <Text size="sm" c="dimmed" mt="sm" data-own>
      {search.own
        ? "Muster's own statements are listed, too. "
        : `${plural(hidden ?? 0, "statement")} of Muster's own ${hidden === 1 ? "is" : "are"} not listed. `}
      <UnstyledButton
        fz="sm"
        td="underline"
        mih={24}
        onClick={() => change({ own: search.own ? undefined : "include" })}
      >
        {search.own ? "Hide them" : "Show them"}
      </UnstyledButton>
    </Text>
  );
}

const sortNames: [Sort, string][] = [
  ["-totalMs", "Time, most first"],
  ["-calls", "Calls, most first"],
  ["-meanMs", "Mean, slowest first"],
  ["-maxMs", "Slowest, slowest first"],
  ["totalMs", "Time, least first"],
  ["calls", "Calls, fewest first"],
  ["meanMs", "Mean, fastest first"],
  ["maxMs", "Slowest, fastest first"],
];

type FilterProps = {
  search: StatementsSearch;
  change: Change;
  /** The order, where there are no columns to click on; null where there are. */
  sort: Sort | null;
  onSort: (sort: Sort) => void;
  searches: boolean;
};

function Filters({ search, change, sort, onSort, searches }: FilterProps) {
  return (
    <Group gap="md" align="flex-end">
      {searches && (
        <SearchField
          main
          label="Search texts, instances and databases"
          value={search.q ?? ""}
          onSearch={(q) => change({ q: q || undefined }, { replace: true })}
        />
      )}
      <Input.Wrapper label="Only" labelElement="div">
        <Group gap={6} mih={36} role="group" aria-label="Only">
          {(
            [
              ["new", "New in this window"],
              ["slower", "Slower than before"],
            ] as const
          ).map(([only, name]) => (
            <Chip
              key={only}
              size="sm"
              variant="outline"
              checked={search.only === only}
              onChange={(on) => change({ only: on ? only : undefined })}
            >
              {name}
            </Chip>
          ))}
          {search.databaseId && (
            <Chip size="sm" variant="outline" checked onChange={() => change({ databaseId: undefined })}>
              One database
            </Chip>
          )}
        </Group>
      </Input.Wrapper>
      {sort && (
        <NativeSelect
          label="Order"
          value={sort}
          onChange={(event) => onSort(event.currentTarget.value as Sort)}
          data={sortNames.map(([value, label]) => ({ value, label }))}
        />
      )}
      {isFiltered(search) && (
        <Button
          size="compact-sm"
          variant="subtle"
          ml="auto"
          leftSection={<IconFilterOff size={14} aria-hidden />}
          onClick={() => change(noFilters)}
        >
          Clear filters
        </Button>
      )}
    </Group>
  );
}

function Loading({ rows }: { rows: number }) {
  return (
    <Panel p="sm">
      <Stack gap="sm" role="status" aria-label="Loading statements">
        {Array.from({ length: rows }, (_, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows without anything in them have nothing else
          <Skeleton key={n} height={44} />
        ))}
      </Stack>
    </Panel>
  );
}

function NotKept({ since, search, change }: { since: string; search: StatementsSearch; change: Change }) {
  return (
    <Panel>
      <EmptyState
        icon={<IconFileCode size={32} aria-hidden />}
        title={search.only === "slower" ? "There is nothing to compare with" : "Not kept for this window"}
        action={
          search.only && (
            <Button size="xs" variant="default" mt="xs" onClick={() => change({ only: undefined })}>
              Show all statements
            </Button>
          )
        }
      >
        Single statements are kept since {shortTime(since)}.
      </EmptyState>
    </Panel>
  );
}

/** Nothing says why the list is empty, and what to do about it. */
function Nothing({ search, change, total }: { search: StatementsSearch; change: Change; total: number }) {
  const icon = <IconFileCode size={32} aria-hidden />;
  if (total > 0) {
    return (
      <Panel>
        <NoSuchPage icon={icon} total={total} what="statements" toFirst={() => change({})} />
      </Panel>
    );
  }
  if (isFiltered(search)) {
    return (
      <Panel>
        <EmptyState
          icon={icon}
          title="No statement matches"
          action={
            <Button size="xs" variant="default" mt="xs" onClick={() => change(noFilters)}>
              Clear filters
            </Button>
          }
        >
          Choose another window or other filters, or clear them.
        </EmptyState>
      </Panel>
    );
  }
  return (
    <Panel>
      <EmptyState icon={icon} title="No statements in this window">
        No statement was executed, or no instance reported one. Muster needs the extension pg_stat_statements on
        PostgreSQL, and grants for its account on SQL Server and Oracle.{" "}
        <Anchor component={Link} to="/instances" size="sm">
          How instances are watched
        </Anchor>
      </EmptyState>
    </Panel>
  );
}

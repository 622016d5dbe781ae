import { Button, Chip, Group, Stack, Tabs, Text } from "@mantine/core";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { api, type Schemas } from "../api/client";
import { inProgress, usePolling, whileMoving } from "../api/polling";
import { useSession } from "../api/session";
import { EmptyState } from "../ui/EmptyState";
import { Pager } from "../ui/Pager";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { statuses } from "../url/schemas";
import { HistoryTable } from "./historyTable";
import { type Kind, kindName, kinds } from "./kinds";
import { statusNames } from "./status";

type Status = (typeof statuses)[number];

const everyKind = "All";

/** HistoryPage lists what the organization requested, of all kinds or of one, newest first; the address says kind, states and page. */
export function HistoryPage() {
  const { kind, status, page = 1 } = useSearch({ from: "/reports/history" });
  const navigate = useNavigate();
  const { can } = useSession();
  const go = (search: { kind?: Kind; status?: Status[]; page?: number }) =>
    navigate({ to: "/reports/history", search });
  return (
    <>
      <PageTitle
        title="Report history"
        lead="Every report your organization has requested. Files are deleted when they expire; the record of each report stays."
        actions={
          can("reports:create") && (
            <Button renderRoot={(props) => <Link {...props} to="/reports/view" search={{ kind }} />}>
              Request a report
            </Button>
          )
        }
      />
      <Tabs
        value={kind ?? everyKind}
        onChange={(chosen) => go({ kind: kinds.find((k) => k === chosen), status })}
        keepMounted={false}
      >
        <Tabs.List aria-label="Kind of report" mb="md">
          <Tabs.Tab value={everyKind}>All</Tabs.Tab>
          {kinds.map((k) => (
            <Tabs.Tab key={k} value={k}>
              {kindName(k)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={kind ?? everyKind}>
          <StatusFilter
            chosen={status ?? []}
            onChange={(next) => go({ kind, status: next.length ? next : undefined })}
          />
          <Rows
            kind={kind}
            status={status}
            page={page}
            onTurn={(next) => go({ kind, status, page: next })}
            onAll={() => go({ kind })}
          />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function StatusFilter({ chosen, onChange }: { chosen: Status[]; onChange: (status: Status[]) => void }) {
  return (
    <Group gap="xs" mb="md" role="group" aria-label="Status">
      <Text size="sm" c="dimmed" aria-hidden>
        Status
      </Text>
      <Chip.Group multiple value={chosen} onChange={(next) => onChange(statuses.filter((s) => next.includes(s)))}>
        {statuses.map((s) => (
          <Chip key={s} value={s} size="xs" variant="outline">
            {statusNames[s]}
          </Chip>
        ))}
      </Chip.Group>
    </Group>
  );
}

type RowsProps = {
  /** undefined is all of them. */
  kind: Kind | undefined;
  /** undefined is every state, [] none: an address that named only states that do not exist. */
  status: Status[] | undefined;
  page: number;
  onTurn: (page: number) => void;
  onAll: () => void;
};

function Rows({ kind, status, page, onTurn, onAll }: RowsProps) {
  const nothing = status?.length === 0;
  const polling = usePolling<Schemas["ReportPage"]>((answer) => answer.items.some(inProgress) && whileMoving);
  const history = api.useQuery(
    "get",
    "/api/v1/reports",
    { params: { query: { kind: kind ? [kind] : [...kinds], page, ...(status && { status }) } } },
    {
      ...polling,
      staleTime: 0,
      enabled: !nothing,
      // Another page or filter keeps what is shown until it is there; another kind is another list.
      placeholderData: (previous, query) =>
        query?.queryKey[2].params.query.kind.join() === (kind ?? kinds.join()) ? previous : undefined,
    },
  );
  if (nothing) return <NoneShown title="No status is chosen" onAll={onAll} />;
  const { data, error } = history;
  if (!data && error)
    return <ProblemNote error={error} title="The history could not be loaded" onRetry={() => history.refetch()} />;
  return (
    <Stack gap="sm">
      {error && <ProblemNote error={error} title="The list may be out of date" onRetry={() => history.refetch()} />}
      {data && data.items.length === 0 ? (
        <Panel>
          {data.page.totalItems > 0 ? (
            <EmptyState title={`There is no page ${page}`}>The last page is {data.page.totalPages}.</EmptyState>
          ) : status ? (
            <NoneShown
              title={`No ${kind ? `${kindName(kind)} ` : ""}report is ${status.map((s) => statusNames[s]?.toLowerCase()).join(" or ")}`}
              onAll={onAll}
            />
          ) : (
            <NoneYet kind={kind} />
          )}
        </Panel>
      ) : (
        <Panel p={0}>
          <HistoryTable reports={data?.items} busy={history.isFetching} kinds={kind === undefined} />
        </Panel>
      )}
      {data && data.page.totalItems > 0 && <Pager page={data.page} onTurn={onTurn} what="reports" />}
    </Stack>
  );
}

function NoneShown({ title, onAll }: { title: string; onAll: () => void }) {
  return (
    <EmptyState
      title={title}
      action={
        <Button variant="default" size="xs" onClick={onAll}>
          Show every status
        </Button>
      }
    />
  );
}

function NoneYet({ kind }: { kind: Kind | undefined }) {
  const { can, mail } = useSession();
  return (
    <EmptyState
      title={`No ${kind ? `${kindName(kind)} ` : ""}report has been requested yet`}
      action={
        can("reports:create") && (
          <Button
            renderRoot={(props) => <Link {...props} to="/reports/view" search={{ kind }} />}
            variant="default"
            size="xs"
            mt="xs"
          >
            Request one
          </Button>
        )
      }
    >
      Muster builds a report in the background{mail === "server" ? ", e-mails a link to it," : ""} and lists it here.
    </EmptyState>
  );
}

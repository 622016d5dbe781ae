import { Button, Chip, Code, Group, Table, Text } from "@mantine/core";
import { IconBan, IconClockOff, IconHelpCircle, IconPlus, IconShieldCheck } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { api, type Schemas } from "../api/client";
import { useSession } from "../api/session";
import { EmptyState } from "../ui/EmptyState";
import { Mark, type Tone } from "../ui/Mark";
import { Pager } from "../ui/Pager";
import { PageTitle } from "../ui/PageTitle";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { exceptionStatuses } from "../url/schemas";
import { Day } from "./Day";
import { DecideException, type Decision } from "./DecideException";
import { useInstanceNames } from "./instanceNames";
import { ListSkeleton, ListTable } from "./ListTable";
import { RequestException } from "./RequestException";

/** ExceptionsPage is the findings that somebody asks to live with, and what an administrator said to it. */
export function ExceptionsPage() {
  const { can } = useSession();
  const [asking, setAsking] = useState(false);
  const [decision, setDecision] = useState<Decision | null>(null);
  return (
    <>
      <PageTitle
        title="Exceptions"
        lead="Findings that your organization accepts for a limited time. Later reports list them separately and exclude them from the score."
        actions={
          can("reports:create") && (
            <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setAsking(true)}>
              Request an exception
            </Button>
          )
        }
      />
      <Exceptions onDecide={setDecision} />
      {asking && <RequestException onClose={() => setAsking(false)} />}
      {decision && <DecideException decision={decision} onClose={() => setDecision(null)} />}
    </>
  );
}

const states: Record<Schemas["ExceptionStatus"], { tone: Tone; icon: ReactNode; name: string }> = {
  requested: { tone: "busy", icon: <IconHelpCircle size={16} aria-hidden />, name: "Requested" },
  granted: { tone: "good", icon: <IconShieldCheck size={16} aria-hidden />, name: "Granted" },
  revoked: { tone: "quiet", icon: <IconBan size={16} aria-hidden />, name: "Revoked" },
  lapsed: { tone: "quiet", icon: <IconClockOff size={16} aria-hidden />, name: "Lapsed" },
};

function Exceptions({ onDecide }: { onDecide: (decision: Decision) => void }) {
  const { decides, withdraws } = useRights();
  const { status, page } = useSearch({ from: "/exceptions" });
  const navigate = useNavigate({ from: "/exceptions" });
  const nothing = status?.length === 0; // a filter of which nothing could be read matches nothing
  const exceptions = api.useQuery(
    "get",
    "/api/v1/exceptions",
    { params: { query: { status, page } } },
    { placeholderData: keepPreviousData, enabled: !nothing },
  );
  const items = nothing ? [] : exceptions.data?.items;
  const names = useInstanceNames(items?.flatMap((x) => x.instanceId ?? []) ?? []);
  const columns = ["State", "Finding", "Reason", "Until", "Asked for", "Decided"];
  return (
    <>
      <Chip.Group
        multiple
        value={status ?? []}
        onChange={(chosen) =>
          navigate({ search: { status: chosen.length > 0 ? (chosen as NonNullable<typeof status>) : undefined } })
        }
      >
        <Group gap="xs" mb="md" role="group" aria-label="State">
          {exceptionStatuses.map((s) => (
            <Chip key={s} value={s} size="sm" variant="outline">
              {states[s].name}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      {exceptions.isPending && !nothing && <ListSkeleton rows={4} />}
      {exceptions.isError && (
        <ProblemNote
          error={exceptions.error}
          title="Exceptions could not be loaded"
          onRetry={() => exceptions.refetch()}
        />
      )}
      {items?.length === 0 && (
        <EmptyState icon={<IconShieldCheck size={28} aria-hidden />} title="No exceptions">
          {status
            ? "No exception has the selected state."
            : "If a finding in a report has to stay for some time, a member can request an exception here."}
        </EmptyState>
      )}
      {exceptions.data && items && items.length > 0 && (
        <>
          <ListTable
            label="Exceptions"
            columns={decides || withdraws ? [...columns, "(Actions)"] : columns}
            minWidth={1000}
            busy={exceptions.isPlaceholderData}
          >
            {items.map((exception) => (
              <ExceptionRow key={exception.id} exception={exception} instanceName={names} onDecide={onDecide} />
            ))}
          </ListTable>
          <Pager
            page={exceptions.data.page}
            what="exceptions"
            onTurn={(next) => navigate({ search: (previous) => ({ ...previous, page: next }) })}
          />
        </>
      )}
    </>
  );
}

/** useRights is what the reader may do with exceptions: a team's member withdraws those for its servers. */
function useRights() {
  const { can, role } = useSession();
  return { decides: can("admin"), withdraws: role === "team" && can("reports:create") };
}

function ExceptionRow({
  exception: x,
  instanceName,
  onDecide,
}: {
  exception: Schemas["Exception"];
  instanceName: (id: string) => string;
  onDecide: (decision: Decision) => void;
}) {
  const { member, organization } = useSession();
  const { decides, withdraws } = useRights();
  const ends = x.status === "requested" || x.status === "granted";
  const own = organization.exceptionApproval === "another" && x.requestedBy.id === member.id;
  const state = states[x.status];
  return (
    <Table.Tr style={{ verticalAlign: "top" }}>
      <Table.Td>
        <Mark tone={state.tone} icon={state.icon}>
          {state.name}
        </Mark>
      </Table.Td>
      <Table.Td maw={300}>
        <Text size="sm" fw={500}>
          {x.checkTitle ?? "A check that this version of Muster no longer has"}
        </Text>
        <Code>{x.checkId}</Code>
        <Text size="xs" c="dimmed" mt={2}>
          {x.instanceId === null ? "every instance" : instanceName(x.instanceId)}
          {x.instanceId !== null && x.databaseId !== null && (
            <DatabaseName instanceId={x.instanceId} databaseId={x.databaseId} />
          )}
        </Text>
        {x.objectRef !== null && <Text size="xs">{x.objectRef}</Text>}
      </Table.Td>
      <Table.Td maw={340}>
        <Text size="sm" lineClamp={4} title={x.reason}>
          {x.reason}
        </Text>
      </Table.Td>
      <Table.Td>
        <Day at={x.until} />
      </Table.Td>
      <Table.Td>
        <By person={x.requestedBy} at={x.requestedAt} />
      </Table.Td>
      <Table.Td>{x.decidedAt ? <By person={x.decidedBy} at={x.decidedAt} /> : "Not yet"}</Table.Td>
      {decides && (
        <Table.Td ta="right">
          <Group gap={6} justify="flex-end" wrap="nowrap">
            {x.status === "requested" && own && (
              <Text size="xs" c="dimmed">
                Another administrator grants it
              </Text>
            )}
            {x.status === "requested" && !own && (
              <Button size="compact-sm" onClick={() => onDecide({ act: "grant", exception: x })}>
                Grant
              </Button>
            )}
            {ends && (
              <Button size="compact-sm" variant="default" onClick={() => onDecide({ act: "revoke", exception: x })}>
                {x.status === "requested" ? "Refuse" : "Revoke"}
              </Button>
            )}
          </Group>
        </Table.Td>
      )}
      {withdraws && (
        <Table.Td ta="right">
          {ends && x.mayRevoke && (
            <Button size="compact-sm" variant="default" onClick={() => onDecide({ act: "withdraw", exception: x })}>
              Withdraw
            </Button>
          )}
        </Table.Td>
      )}
    </Table.Tr>
  );
}

function By({ person, at }: { person: Schemas["Person"] | null; at: string }) {
  return (
    <>
      <Text size="sm">{person?.name || "Erased member"}</Text>
      <Text size="xs" c="dimmed" component="div">
        <Time at={at} />
      </Text>
    </>
  );
}

function DatabaseName({ instanceId, databaseId }: { instanceId: string; databaseId: string }) {
  const databases = api.useQuery("get", "/api/v1/instances/{instanceId}/databases", {
    params: { path: { instanceId }, query: { pageSize: 200 } },
  });
  return ` · ${databases.data?.items.find((d) => d.id === databaseId)?.name ?? databaseId}`;
}

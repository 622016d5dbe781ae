import { Badge, Button, Group, Stack, Text, Title } from "@mantine/core";
import { IconPlus, IconTool } from "@tabler/icons-react";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, client } from "../api/client";
import { useSession } from "../api/session";
import { Confirm } from "../settings/Confirm";
import { ListSkeleton } from "../settings/ListTable";
import { selects } from "../teams/teamForm";
import { EmptyState } from "../ui/EmptyState";
import { NotAvailable } from "../ui/NotAvailable";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { say, sayProblem } from "../ui/say";
import { Time } from "../ui/Time";
import { recurs, type Window } from "./form";
import { type Editing, WindowDialog } from "./WindowDialog";

const rank = { running: 0, coming: 1, over: 2 };
const order = (w: Window) => rank[w.state as keyof typeof rank] ?? 1;

/** WindowsPage is when somebody works on which servers, so that their alerts notify nobody. */
export function WindowsPage() {
  const { can } = useSession();
  const windows = api.useQuery("get", "/api/v1/maintenance-windows", {}, { staleTime: 0, refetchInterval: 60_000 });
  const [editing, setEditing] = useState<Editing | null>(null);
  const [asking, setAsking] = useState<{ window: Window; end: boolean } | null>(null);
  // As it is now: what is saved must not undo what somebody else has changed meanwhile.
  const edit = useMutation({
    mutationFn: async ({ id }: Window) => {
      const { data, response } = await client.GET("/api/v1/maintenance-windows/{windowId}", {
        params: { path: { windowId: id } },
      });
      if (data) setEditing({ window: data, etag: response.headers.get("ETag") ?? "*" });
    },
    onError: (error) => sayProblem(error),
  });
  const items = windows.data?.items.toSorted((a, b) => order(a) - order(b));
  return (
    <>
      <PageTitle
        title="Maintenance windows"
        lead="Alerts of these servers notify nobody before the window ends. Muster then notifies about those that are still open."
        actions={
          can("alerts:write") && (
            <Button
              leftSection={<IconPlus size={16} aria-hidden />}
              onClick={() => setEditing({ window: null, etag: "*" })}
            >
              New window
            </Button>
          )
        }
      />
      {windows.isPending && <ListSkeleton rows={3} />}
      {windows.isError && (
        <ProblemNote error={windows.error} title="Windows could not be loaded" onRetry={() => windows.refetch()} />
      )}
      <NotAvailable missing={items?.[0]?.unavailable ?? []} />
      {items?.length === 0 && (
        <EmptyState icon={<IconTool size={28} aria-hidden />} title="No maintenance windows">
          All alerts notify their recipients at once.
        </EmptyState>
      )}
      <Stack
        gap="sm"
        maw={860}
        component="ul"
        style={{ listStyle: "none", padding: 0, margin: 0 }}
        aria-label="Maintenance windows"
      >
        {items?.map((w) => (
          <li key={w.id}>
            <WindowPanel window={w} onEdit={() => edit.mutate(w)} onAsk={(end) => setAsking({ window: w, end })} />
          </li>
        ))}
      </Stack>
      {editing && <WindowDialog {...editing} onClose={() => setEditing(null)} />}
      {asking && <Ask {...asking} onClose={() => setAsking(null)} />}
    </>
  );
}

const looks = { running: "orange", coming: "teal", over: "gray" };

function WindowPanel({
  window: w,
  onEdit,
  onAsk,
}: {
  window: Window;
  onEdit: () => void;
  onAsk: (end: boolean) => void;
}) {
  const button = { size: "compact-sm", variant: "default" };
  return (
    <Panel>
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={4} style={{ flex: "1 1 18rem", minWidth: 0 }}>
          <Group gap="xs">
            <Title order={2} size="h4">
              <bdi>{w.name}</bdi>
            </Title>
            <Badge variant="light" radius="sm" color={looks[w.state as keyof typeof looks] ?? "gray"} autoContrast>
              {w.state}
            </Badge>
          </Group>
          <Text size="sm">
            <When window={w} />
          </Text>
          <Text size="sm" c="dimmed">
            <bdi>{selects(w)}</bdi> {w.instanceCount !== null && `${w.instanceCount} now.`}
          </Text>
        </Stack>
        {w.mayChange && (
          <Group gap={6}>
            {w.running && (
              <Button {...button} aria-label={`End now: ${w.name}`} onClick={() => onAsk(true)}>
                End now
              </Button>
            )}
            <Button {...button} aria-label={`Edit ${w.name}`} onClick={onEdit}>
              Edit
            </Button>
            <Button {...button} aria-label={`Remove ${w.name}`} onClick={() => onAsk(false)}>
              Remove
            </Button>
          </Group>
        )}
      </Group>
    </Panel>
  );
}

function When({ window: w }: { window: Window }) {
  const often = recurs(w);
  const time = w.running ?? w.next;
  return (
    <>
      {often && `${often}. `}
      {w.running && (
        <>
          Running until <Time at={w.running.to} />.
        </>
      )}
      {!w.running && time && (
        <>
          {often ? "Next: " : "From "}
          <Time at={time.from} /> to <Time at={time.to} />.
        </>
      )}
      {!time && w.to && (
        <>
          Over. It was planned until <Time at={w.to} />.
        </>
      )}
    </>
  );
}

function Ask({ window: w, end, onClose }: { window: Window; end: boolean; onClose: () => void }) {
  const queries = useQueryClient();
  const params = { path: { windowId: w.id } };
  const act = useMutation({
    mutationFn: async () => {
      if (end) await client.POST("/api/v1/maintenance-windows/{windowId}/end", { params });
      else await client.DELETE("/api/v1/maintenance-windows/{windowId}", { params });
    },
    onSuccess: async () => {
      onClose();
      say(`The maintenance window ${w.name} is ${end ? "over" : "removed"}.`);
      await queries.invalidateQueries();
    },
  });
  return (
    <Confirm
      danger={!end}
      title={end ? `End ${w.name} now` : `Remove ${w.name}`}
      verb={end ? "End now" : "Remove"}
      busy={act.isPending}
      error={act.error}
      onClose={onClose}
      onConfirm={() => act.mutate()}
    >
      Muster notifies about the alerts that are still open within a minute.
      {end && w.recurrence && " The window goes on with its next time."}
    </Confirm>
  );
}

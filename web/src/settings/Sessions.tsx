import { Button, Group, Table, Text, Title } from "@mantine/core";
import { IconDeviceDesktop } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, client, type Schemas } from "../api/client";
import { queryClient } from "../api/queries";
import { Mark } from "../ui/Mark";
import { ProblemNote } from "../ui/ProblemNote";
import { say, sayProblem } from "../ui/say";
import { Time } from "../ui/Time";
import { Confirm } from "./Confirm";
import { ListSkeleton, ListTable } from "./ListTable";
import { browserName } from "./userAgent";

const changed = () => queryClient.invalidateQueries({ queryKey: ["get", "/api/v1/sessions"] });

/** Sessions are the reader's own, wherever they are signed in, and end them. */
export function Sessions() {
  const sessions = api.useQuery("get", "/api/v1/sessions", {}, { staleTime: 0 });
  const [asked, setAsked] = useState(false);
  const others = sessions.data?.items.some((s) => !s.current) ?? false;
  const endOthers = useMutation({
    mutationFn: () => client.DELETE("/api/v1/sessions"),
    onSuccess: async () => {
      setAsked(false);
      say("Your other sessions have ended.");
      await changed();
    },
  });
  return (
    <section aria-labelledby="sessions">
      <Group justify="space-between" mb="sm">
        <div>
          <Title order={2} id="sessions">
            Your sessions
          </Title>
          <Text size="sm" c="dimmed">
            Where you are signed in. A session ends after 12 hours without use, and after 7 days at the latest.
          </Text>
        </div>
        {others && (
          <Button variant="default" onClick={() => setAsked(true)}>
            End all other sessions
          </Button>
        )}
      </Group>
      {sessions.isPending && <ListSkeleton rows={3} />}
      {sessions.isError && (
        <ProblemNote error={sessions.error} title="Sessions could not be loaded" onRetry={() => sessions.refetch()} />
      )}
      {sessions.data && (
        <ListTable
          label="Your sessions"
          minWidth={640}
          columns={["Browser", "Address", "Signed in", "Last seen", "Ends", "(Actions)"]}
        >
          {sessions.data.items.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </ListTable>
      )}
      {asked && (
        <Confirm
          danger
          title="End all other sessions"
          verb="End sessions"
          busy={endOthers.isPending}
          error={endOthers.error}
          onClose={() => setAsked(false)}
          onConfirm={() => endOthers.mutate()}
        >
          You are signed out everywhere else at once. If someone else may know your password, change it as well.
        </Confirm>
      )}
    </section>
  );
}

function SessionRow({ session }: { session: Schemas["SessionEntry"] }) {
  const end = useMutation({
    mutationFn: () => client.DELETE("/api/v1/sessions/{sessionId}", { params: { path: { sessionId: session.id } } }),
    onSuccess: async () => {
      say("The session has ended.");
      await changed();
    },
    onError: (error) => sayProblem(error, "The session was not ended"),
  });
  const browser = browserName(session.userAgent);
  return (
    <Table.Tr>
      <Table.Td title={session.userAgent ?? undefined}>{browser}</Table.Td>
      <Table.Td className="numbers">{session.ip ?? "Unknown"}</Table.Td>
      <Table.Td>
        <Time at={session.createdAt} />
      </Table.Td>
      <Table.Td>
        <Time at={session.lastSeenAt} relative />
      </Table.Td>
      <Table.Td>
        <Time at={session.expiresAt} />
      </Table.Td>
      <Table.Td ta="right">
        {session.current ? (
          <Mark tone="good" icon={<IconDeviceDesktop size={16} aria-hidden />}>
            This session
          </Mark>
        ) : (
          <Button
            size="compact-sm"
            variant="default"
            loading={end.isPending}
            aria-label={`End the session of ${browser} from ${session.ip ?? "an unknown address"}`}
            onClick={() => end.mutate()}
          >
            End
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

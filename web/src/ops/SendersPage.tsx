import { Anchor, Button, Group, Skeleton, Stack, Table, Text, Title } from "@mantine/core";
import { IconAlertTriangle, IconPlugConnected } from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { Fragment, useId, useState } from "react";
import { api, type Schemas } from "../api/client";
import { usePolling } from "../api/polling";
import { useSession } from "../api/session";
import { EmptyState } from "../ui/EmptyState";
import { count, plural } from "../ui/format";
import { Mark } from "../ui/Mark";
import { PageTitle } from "../ui/PageTitle";
import { Panel } from "../ui/Panel";
import { ProblemNote } from "../ui/ProblemNote";
import { Time } from "../ui/Time";
import { Budgets } from "./Budgets";
import { isOdd, reasonText } from "./reasons";
import classes from "./senders.module.css";

type Sender = Schemas["SenderOfToken"];
type Count = Schemas["SenderCount"];

/** So many names are read in all, and so many of a table are shown at first. */
const most = 5_000;
const few = 8;

/** SendersPage is what each sender sent in the last day, by name: what was used, and what was not and why. */
export function SendersPage() {
  const { data, error, isFetching, refetch } = api.useQuery(
    "get",
    "/api/v1/ops/senders",
    {},
    { ...usePolling(() => 15_000), staleTime: 0 },
  );
  const senders = data && [...data.items].sort(byName);
  const names = data?.items.reduce((sum, s) => sum + s.counts.length, 0) ?? 0;
  return (
    <>
      <PageTitle
        title="Senders"
        lead="Messages of the last 24 hours from agents, Prometheus, OpenTelemetry collectors and feeds, by token and sender: which samples Muster used, and why it did not use the others."
      />
      {error && <ProblemNote error={error} title="Senders could not be loaded" onRetry={refetch} />}
      <Stack gap="md" aria-busy={isFetching}>
        <Budgets />
        {!data && !error && <Skeleton height={240} />}
        {senders?.length === 0 && <Nobody />}
        {names >= most && (
          <Text size="sm" c="dimmed">
            Only the first {count(most)} names are listed.
          </Text>
        )}
        {senders?.map((sender) => (
          <OneSender key={`${sender.tokenId} ${sender.sender ?? ""}`} sender={sender} />
        ))}
      </Stack>
    </>
  );
}

const byName = (a: Sender, b: Sender) =>
  (a.token ?? "\uffff").localeCompare(b.token ?? "\uffff") || (a.sender ?? "").localeCompare(b.sender ?? "");

function Nobody() {
  const { can } = useSession();
  return (
    <Panel>
      <EmptyState
        icon={<IconPlugConnected size={28} aria-hidden />}
        title="Nothing was sent in the last 24 hours"
        action={
          can("admin") && (
            <Button
              mt="xs"
              size="xs"
              variant="default"
              renderRoot={(props) => <Link to="/instances/connect" {...props} />}
            >
              Connect an agent
            </Button>
          )
        }
      >
        A sender appears here within 15 seconds of its first message. Muster's own connections to servers are no
        senders.
      </EmptyState>
    </Panel>
  );
}

function OneSender({ sender: s }: { sender: Sender }) {
  const title = useId();
  const doors = s.doors.length > 1;
  const used = s.counts.filter((c) => c.reason === null).sort(theMostFirst);
  const unused = s.counts.filter((c) => c.reason !== null).sort(theOddFirst);
  const odd = new Set(unused.map(reasonOf).filter(isOdd)).size;
  return (
    <Panel p={0}>
      <section aria-labelledby={title}>
        <Group justify="space-between" align="flex-start" gap="xs" px="md" pt="md">
          <div style={{ minWidth: 0 }}>
            <Title order={2} id={title} style={{ overflowWrap: "anywhere" }}>
              {s.token === null ? "A deleted token" : <bdi>{s.token}</bdi>}
              {s.sender !== null && (
                <Text component="span" c="dimmed" fw={400}>
                  {" "}
                  · <bdi>{s.sender}</bdi>
                </Text>
              )}
            </Title>
            <Text size="sm" c="dimmed" mt={2}>
              Last message <Time at={s.lastAt} relative /> ·{" "}
              {s.doors.map((door, at) => (
                <span key={door}>
                  {at > 0 && ", "}
                  <code className={classes.door}>{door}</code>
                </span>
              ))}
            </Text>
          </div>
          {odd > 0 && (
            <Mark tone="warning" icon={<IconAlertTriangle size={16} aria-hidden />}>
              {plural(odd, "reason")} to look at
            </Mark>
          )}
        </Group>
        <div className={classes.halves}>
          <Counts title="Not used" counts={unused} doors={doors} none="Everything was used." />
          <Counts title="Used" counts={used} doors={doors} none="Nothing was used." />
        </div>
      </section>
    </Panel>
  );
}

const theMostFirst = (a: Count, b: Count) => b.count - a.count || a.name.localeCompare(b.name);
const reasonOf = (c: Count) => c.reason ?? "";
const theOddFirst = (a: Count, b: Count) =>
  Number(isOdd(reasonOf(b))) - Number(isOdd(reasonOf(a))) ||
  reasonOf(a).localeCompare(reasonOf(b)) ||
  theMostFirst(a, b);

/** Reason is the heading of the names that were not used for it. */
function Reason({ reason }: { reason: string }) {
  return (
    <Table.Tr data-reason={reason}>
      <Table.Th colSpan={2} scope="colgroup" className={classes.reason}>
        {isOdd(reason) && <IconAlertTriangle size={14} aria-label="Needs attention:" className={classes.odd} />}
        {reasonText(reason)}
      </Table.Th>
    </Table.Tr>
  );
}

function Counts({ title, counts, doors, none }: { title: string; counts: Count[]; doors: boolean; none: string }) {
  const [all, setAll] = useState(false);
  const unused = title === "Not used";
  const shown = all ? counts : counts.slice(0, few);
  return (
    <div className={classes.half} data-half={title}>
      <Title order={3} size="sm" px="md" pt="sm">
        {title}
      </Title>
      {counts.length === 0 ? (
        <Text size="sm" c="dimmed" px="md" py="xs">
          {none}
        </Text>
      ) : (
        <Table verticalSpacing={6} horizontalSpacing="md" className={classes.counts}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Name</Table.Th>
              <Table.Th scope="col" ta="right">
                Count
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((c, at) => (
              <Fragment key={`${c.door} ${c.name} ${c.reason}`}>
                {c.reason !== null && c.reason !== shown[at - 1]?.reason && <Reason reason={c.reason} />}
                <Table.Tr>
                  <Table.Td>
                    <Name count={c} />
                    {doors && (
                      <Text size="xs" c="dimmed">
                        <code className={classes.door}>{c.door}</code>
                      </Text>
                    )}
                  </Table.Td>
                  <Table.Td ta="right" className="numbers" style={{ verticalAlign: "top" }}>
                    {count(c.count)}
                  </Table.Td>
                </Table.Tr>
              </Fragment>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {counts.length > few && (
        <Anchor component="button" type="button" size="sm" px="md" py="xs" onClick={() => setAll(!all)}>
          {all ? `Show the first ${few}` : `Show all ${count(counts.length)}`}
          <span className="visually-hidden"> that were {unused ? "not used" : "used"}</span>
        </Anchor>
      )}
    </div>
  );
}

/** Name is that of a metric, or the sort of what was kept. What has none, or came after 200 others, is counted as one. */
function Name({ count: { name, reason } }: { count: Count }) {
  if (name !== "") return <code className={classes.name}>{name}</code>;
  return (
    <Text size="sm" fs="italic" c="dimmed">
      {reason === null ? "Names after the first 200" : "Without a name, or after the first 200"}
    </Text>
  );
}

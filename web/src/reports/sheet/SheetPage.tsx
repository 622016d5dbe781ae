import { Anchor, Box, Button, Group, Paper, SegmentedControl, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { client } from "../../api/client";
import { serverNow } from "../../api/clock";
import { useSession } from "../../api/session";
import { InstanceFilter } from "../../shell/InstanceFilter";
import { PageTitle } from "../../ui/PageTitle";
import { ProblemNote } from "../../ui/ProblemNote";
import { byKey } from "../../url/tagWords";
import { serversOf } from "../../window/query";
import { useScope } from "../../window/scope";
import { type Kind, reportKinds } from "../kinds";
import type { Sheet } from "./model";
import { SheetView } from "./SheetView";

const day = 24 * 3600 * 1000;
const spans = { "1d": 1, "7d": 7, "30d": 30 } as const;
type Span = keyof typeof spans;

/** SheetPage shows a summary as a report would print it now: of the whole organization, or of the address's servers. */
export function SheetPage({ kind }: { kind: Kind }) {
  const { card, windowDays } = reportKinds[kind];
  const { can } = useSession();
  const { filter, matchesNothing } = useScope();
  const { instanceId, tag } = filter;
  const [filtering, setFiltering] = useState(false);
  const [span, setSpan] = useState<Span>(windowDays === 1 ? "1d" : "7d");
  const sheet = useQuery({
    queryKey: ["preview", kind, span, instanceId, tag],
    enabled: !matchesNothing,
    queryFn: async ({ signal }) => {
      const to = serverNow();
      const window = { from: new Date(to.getTime() - spans[span] * day).toISOString(), to: to.toISOString() };
      const servers = { instanceIds: instanceId ?? [], ...(tag && { tags: byKey(tag) }) };
      const body = { kind, scope: { ...servers, ...(windowDays !== null && window) } };
      return (await client.POST("/api/v1/reports/preview", { body, signal })).data as unknown as Sheet;
    },
  });
  return (
    <Box maw={960}>
      <PageTitle title={card.name} beta lead={card.description} />
      <Group mb="md" gap="sm">
        <InstanceFilter opened={filtering} onChange={setFiltering} />
        {windowDays !== null && windowDays > 1 && (
          <SegmentedControl
            aria-label="Window"
            data={[
              { value: "1d", label: "Past day" },
              { value: "7d", label: "Past 7 days" },
              { value: "30d", label: "Past 30 days" },
            ]}
            value={span}
            onChange={(value) => setSpan(value as Span)}
          />
        )}
        {can("reports:create") && (
          <Button
            variant="default"
            ml="auto"
            renderRoot={(props) => (
              <Link
                to="/reports/view"
                search={{ kind, ...serversOf(filter), ...(span !== "1d" && { range: span }) }}
                {...props}
              />
            )}
          >
            Request as PDF
          </Button>
        )}
      </Group>
      <Paper
        withBorder
        p={{ base: "md", sm: "xl" }}
        component="article"
        aria-label={card.name}
        aria-busy={sheet.isFetching}
      >
        {sheet.isError && (
          <ProblemNote title="There is no preview now" error={sheet.error} onRetry={() => void sheet.refetch()} />
        )}
        {matchesNothing && <Text>The filter names no server. Choose some, or clear it.</Text>}
        {sheet.isLoading && <Loading />}
        {sheet.data && <SheetView sheet={sheet.data} />}
      </Paper>
      <Anchor component={Link} to="/reports" size="sm" mt="md" display="inline-block">
        Back to the catalog
      </Anchor>
    </Box>
  );
}

function Loading() {
  return (
    <Stack gap="lg">
      <Skeleton height={28} width="70%" />
      <Skeleton height={84} />
      <Skeleton height={160} />
      <Text className="visually-hidden">Loading</Text>
    </Stack>
  );
}

import { Alert, Anchor, Box, Paper, Stack, Text } from "@mantine/core";
import { IconEye, IconFileUnknown } from "@tabler/icons-react";
import { Link, useParams } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { useSession } from "../api/session";
import { EmptyState } from "../ui/EmptyState";
import { PageTitle } from "../ui/PageTitle";
import { cardsOf, samples } from "./catalogCards";
import type { PreviewName } from "./kinds/kind";
import { AlertsSummary } from "./previews/AlertsSummary";
import { DailyDigest } from "./previews/DailyDigest";
import { PerformanceSla } from "./previews/PerformanceSla";
import { alertsSummary, dailyDigest, organization as example, performanceSla } from "./previews/sampleData";
import { SheetPage } from "./sheet/SheetPage";

const previews: Record<PreviewName, { sheet: ComponentType; period: string; verdict: string }> = {
  "performance-sla": { sheet: PerformanceSla, ...performanceSla },
  "alerts-summary": { sheet: AlertsSummary, ...alertsSummary },
  "daily-digest": { sheet: DailyDigest, ...dailyDigest },
};

/** PreviewPage shows a summary as it would be printed now, or a sample where the catalog does not offer it. */
export function PreviewPage() {
  const { card: name } = useParams({ from: "/reports/preview/$card" });
  const { organization } = useSession();
  const offered = cardsOf(organization.catalog).find((c) => c.action.open === name);
  if (offered && "request" in offered.action) return <SheetPage key={name} kind={offered.action.request} />;
  return <SamplePage name={name} />;
}

/** SamplePage shows what a report will look like, with sample data and a banner that says so. */
function SamplePage({ name }: { name: string }) {
  const card = samples.find((c) => c.action.open === name);
  const preview = Object.entries(previews).find(([key]) => key === name)?.[1];
  if (!card || !preview) return <NoPreview name={name} />;
  const Sheet = preview.sheet;
  return (
    <Box maw={960}>
      <PageTitle title={card.name} beta lead={card.description} />
      <Alert
        color="yellow"
        role="note"
        icon={<IconEye aria-hidden />}
        title="Preview — sample data"
        mb="md"
        // It stays in sight below the top bar, however far one scrolls.
        style={{ position: "sticky", top: "calc(var(--shell-header, 0px) + 8px)", zIndex: 1 }}
        bg="light-dark(#fff3bf, #4a3a00)"
        styles={{ title: { color: "var(--mantine-color-text)" }, message: { color: "var(--mantine-color-text)" } }}
      >
        All data below is made up. You cannot request this report yet.
      </Alert>
      <Paper withBorder p={{ base: "md", sm: "xl" }} component="article" aria-label={`${card.name}, sample`}>
        <Text size="sm" c="dimmed">
          {example} · {preview.period}
        </Text>
        <Text fz="lg" fw={600} mt={4} mb="lg" maw="60ch">
          {preview.verdict}
        </Text>
        <Stack gap="xl">
          <Sheet />
        </Stack>
      </Paper>
      <Anchor component={Link} to="/reports" size="sm" mt="md" display="inline-block">
        Back to the catalog
      </Anchor>
    </Box>
  );
}

function NoPreview({ name }: { name: string }) {
  return (
    <>
      <PageTitle title="No such preview" />
      <EmptyState icon={<IconFileUnknown size={32} aria-hidden />} title={`404: there is no preview “${name}”`}>
        <Text size="sm">The catalog lists all previews, marked “Preview — sample data”.</Text>
        <Anchor component={Link} to="/reports" size="sm">
          Go to the catalog
        </Anchor>
      </EmptyState>
    </>
  );
}

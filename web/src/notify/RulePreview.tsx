import { Alert, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconAlertTriangle } from "@tabler/icons-react";
import { keepPreviousData } from "@tanstack/react-query";
import { api, type Schemas } from "../api/client";
import { plural } from "../ui/format";
import { useNarrow } from "../ui/narrow";
import { ProblemNote } from "../ui/ProblemNote";
import { NoticeTable } from "./NoticeTable";
import { wire } from "./ruleForm";
import { type Match, whatText } from "./words";

/** More than these in 30 days, and nobody reads them: over three an hour. */
const flood = 2_000;

/** So many of the newest are shown: beside the form, and on a phone between its fields and its button. */
const shown = { wide: 10, narrow: 4 };

/** RulePreview says what a rule would have matched in the last 30 days, before it is saved. */
export function RulePreview({ match, groupSeconds }: { match: Match; groupSeconds: number }) {
  const [body] = useDebouncedValue({ match: wire(match), groupSeconds }, 400);
  const preview = api.useQuery(
    "post",
    "/api/v1/notification-rules/preview",
    { body },
    { placeholderData: keepPreviousData, retry: false },
  );
  return (
    <aside aria-labelledby="rule-preview">
      <Title order={2} id="rule-preview" mb={4}>
        In the last 30 days
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        What a rule for {whatText(match)} would have told.
      </Text>
      {preview.error && <ProblemNote error={preview.error} onRetry={() => preview.refetch()} />}
      {!preview.data && !preview.error && <Skeleton height={180} />}
      {preview.data && !preview.error && (
        <Stack gap="sm" aria-busy={preview.isPlaceholderData} data-preview>
          <Found preview={preview.data} />
        </Stack>
      )}
    </aside>
  );
}

function Found({ preview: { events, notifications, items } }: { preview: Schemas["RulePreview"] }) {
  const narrow = useNarrow();
  const newest = items.slice(0, narrow ? shown.narrow : shown.wide);
  if (events === 0) {
    return (
      <Text size="sm" role="status">
        Nothing matched.
      </Text>
    );
  }
  return (
    <>
      <Text size="sm" role="status">
        {plural(events, "event")} in {plural(notifications, "notification")} for each channel, quiet hours and
        repetitions aside.
      </Text>
      {notifications > flood && (
        <Alert color="yellow" variant="outline" icon={<IconAlertTriangle aria-hidden />}>
          That is more than anybody reads. Choose fewer severities, or wait longer for more events.
        </Alert>
      )}
      {events > newest.length && (
        <Text size="xs" c="dimmed">
          The newest {newest.length}:
        </Text>
      )}
      <NoticeTable label="The newest of them" notices={newest} tight />
    </>
  );
}

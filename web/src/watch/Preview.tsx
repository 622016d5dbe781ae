import { Skeleton, Text, Title } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData } from "@tanstack/react-query";
import { api, type Schemas } from "../api/client";
import { ServerLink } from "../instances/ServerLink";
import { count, duration, plural, shortTime } from "../ui/format";
import { ProblemNote } from "../ui/ProblemNote";
import { bodyOf, type Line, type Rule } from "./lines";
import { Legend, Spark } from "./Spark";
import classes from "./watch.module.css";

/** Preview says what the lines would have raised in the last 30 days, before they are saved. */
export function Preview({ rule, lines, changed }: { rule: Rule; lines: Line[]; changed: boolean }) {
  const [body] = useDebouncedValue(bodyOf(lines), 400);
  const asked = api.useQuery(
    "post",
    "/api/v1/watch-rules/{watchRule}/preview",
    { params: { path: { watchRule: rule.id } }, body },
    { placeholderData: keepPreviousData, retry: false },
  );
  if (asked.error && !asked.data) {
    return <ProblemNote error={asked.error} title="The preview could not be loaded" onRetry={() => asked.refetch()} />;
  }
  if (!asked.data) return <Skeleton height={160} />;
  return (
    <div aria-busy={asked.isPlaceholderData} data-preview>
      <Said preview={asked.data} changed={changed} />
      {asked.data.items.map((item) => (
        <Server key={item.instanceId} item={item} preview={asked.data} />
      ))}
      {asked.data.items.some(({ figures }) => figures.length > 1) && (
        <Legend changed={changed} maintenance={asked.data.inMaintenance > 0} />
      )}
    </div>
  );
}

function Said({ preview, changed }: { preview: Schemas["WatchRulePreview"]; changed: boolean }) {
  const { alerts, servers, inMaintenance, current, since, from, notMeasured } = preview;
  const begins = since !== null && Date.parse(since) > Date.parse(from) + 3_600_000;
  const would = changed ? "With this change, the rule would have raised" : "This rule would have raised";
  return (
    <>
      <Title order={2} size="h4" role="status">
        {since === null
          ? "This rule has no figures yet, so its past alerts are unknown."
          : alerts === 0
            ? `${would} no alert in the last 30 days.`
            : `${would} ${plural(alerts, "alert")} on ${plural(servers, "server")} in the last 30 days.`}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {inMaintenance > 0 &&
          `${count(inMaintenance)} of ${count(alerts)} in a maintenance window: marked, and nobody is notified. `}
        {changed &&
          `With the saved settings: ${plural(current.alerts, "alert")} on ${plural(current.servers, "server")}. `}
        {begins && `Figures begin ${shortTime(since)}; earlier alerts are unknown. `}
        {notMeasured > 0 &&
          plural(
            notMeasured,
            "server has no figures, so its alerts are unknown.",
            "servers have no figures, so their alerts are unknown.",
          )}
      </Text>
    </>
  );
}

function Server({ item, preview }: { item: Schemas["WatchRulePreviewItem"]; preview: Schemas["WatchRulePreview"] }) {
  return (
    <div className={classes.spark}>
      <div style={{ minWidth: 0 }}>
        <ServerLink id={item.instanceId} name={item.instanceName} size="sm" />
      </div>
      {item.figures.length > 1 ? <Spark item={item} from={preview.from} to={preview.to} /> : <span />}
      <Text size="sm">
        <b>{count(item.alerts)}</b> {item.alerts === 1 ? "alert" : "alerts"} ({count(item.currentAlerts)} with the saved
        settings)
        {item.longestSeconds >= 60 && (
          <Text size="xs" c="dimmed">
            longest {duration(item.longestSeconds * 1_000)}
          </Text>
        )}
      </Text>
    </div>
  );
}

import { Anchor, Loader, Paper, Text, Title } from "@mantine/core";
import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { api, client } from "../api/client";
import { serverNow } from "../api/clock";
import { usePolling } from "../api/polling";
import { count, plural } from "../ui/format";
import { useNow } from "../ui/now";
import { say } from "../ui/say";
import { Time } from "../ui/Time";
import type { Servers } from "../window/query";
import { useAnchor, useScope } from "../window/scope";
import classes from "./firstMinute.module.css";
import { type Seen, type Step, stepsOf } from "./firstSteps";
import { useReporting } from "./fleet";

const often = 3_000;
const quarter = 15 * 60_000;

const valued = (series: Record<string, (number | null)[]>) =>
  Object.values(series).some((values) => values.some((value) => value !== null));

/** look asks which charts have a value by now: not as of the page's anchor, which moves once a minute. */
async function look(servers: Servers, signal: AbortSignal): Promise<Seen> {
  const to = serverNow();
  const from = new Date(to.getTime() - quarter);
  const query = {
    from: from.toISOString(),
    to: to.toISOString(),
    bucketSize: "1m" as const,
    ...servers,
  };
  const options = { params: { query }, signal };
  const [sessions, statements] = await Promise.all([
    client.GET("/api/v1/metrics/wait-events", options),
    client.GET("/api/v1/metrics/query-performance", options),
  ]);
  return {
    sessions: valued(sessions.data?.series ?? {}),
    statements: valued(statements.data?.series ?? {}),
  };
}

/**
 * FirstMinute says of servers that were just added what has come, what is awaited and why, and has the page read again
 * with each first. It ends when there is nothing left to await.
 */
export function FirstMinute({ onOver }: { onOver: () => void }) {
  const { servers } = useScope();
  const { move } = useAnchor();
  const now = useNow(1_000);
  const { instances = [] } = useReporting(servers, often);
  const asked = { params: { query: servers } };
  const connections = api.useQuery(
    "get",
    "/api/v1/metrics/connections",
    asked,
    usePolling(() => often),
  );
  const { data: seen } = useQuery({
    queryKey: ["get", "first minute", servers],
    queryFn: ({ signal }) => look(servers, signal),
    ...usePolling(() => often),
  });
  const steps = stepsOf(
    instances.filter((i) => i.active),
    { ...seen, sampledAt: connections.data?.sampledAt ?? null },
    now.getTime(),
  );
  // Each first value is drawn when it is there.
  const drawn = [seen?.sessions, seen?.statements].filter(Boolean).length;
  const before = useRef<number | null>(null);
  useEffect(() => {
    if (seen === undefined) return;
    if (before.current !== null ? drawn > before.current : drawn > 0) move();
    before.current = drawn;
  }, [seen, drawn, move]);
  const over = steps.length > 0 && steps.every((s) => s.state === "there");
  const name = instances.length === 1 ? (instances[0]?.name ?? "") : plural(instances.length, "instance");
  useEffect(() => {
    if (!over) return;
    say(`${name}: everything that Muster measures has come in.`);
    onOver();
  }, [over, name, onOver]);
  if (steps.length === 0) return null;
  const there = steps.filter((s) => s.state === "there").length;
  return (
    <Paper withBorder p="md" component="section" aria-label="The first minute" data-first-minute mih={234}>
      <Title order={2} size="h3" className={classes.title}>
        {name}: the first minute
      </Title>
      <Text size="sm" c="dimmed">
        This page fills by itself.{" "}
        <span role="status">
          {count(there)} of {count(steps.length)} done.
        </span>
      </Text>
      <ol className={classes.steps}>
        {steps.map((step) => (
          <Row key={step.key} step={step} instanceId={instances.length === 1 ? instances[0]?.id : undefined} />
        ))}
      </ol>
    </Paper>
  );
}

const stateNames = { there: "Done", awaited: "Awaited", failed: "Needs you" } as const;

function Row({ step, instanceId }: { step: Step; instanceId: string | undefined }) {
  return (
    <li className={classes.step} data-step={step.key} data-state={step.state}>
      <span className={classes.mark}>
        {step.state === "there" && <IconCircleCheck size={18} aria-hidden />}
        {step.state === "awaited" && <Loader size={16} aria-hidden />}
        {step.state === "failed" && <IconAlertTriangle size={18} aria-hidden />}
      </span>
      <div>
        <Text size="sm" fw={600}>
          {step.title}
          <span className="visually-hidden">: {stateNames[step.state]}</span>
        </Text>
        <Text size="sm" c="dimmed">
          {step.says}
          {step.at && (
            <>
              {" "}
              <Time at={step.at} relative />.
            </>
          )}
          {step.leads && <> {leading(step.leads, instanceId)}</>}
        </Text>
      </div>
    </li>
  );
}

function leading(leads: NonNullable<Step["leads"]>, instanceId: string | undefined): ReactNode {
  const link = (to: string, text: string, search?: Record<string, unknown>) => (
    <Anchor inherit underline="always" renderRoot={(props) => <Link to={to} search={search as never} {...props} />}>
      {text}
    </Anchor>
  );
  const own = instanceId ? `/instances/${instanceId}` : "/instances";
  switch (leads) {
    case "findings":
      return link("/findings", "Show what it found", instanceId ? { instanceId: [instanceId] } : undefined);
    case "instance":
      return link(own, instanceId ? "Change the connection or assess it again" : "Show the instances");
    case "grants":
      return link(own, "Show what is missing");
    case "agent":
      return link("/instances/connect", "Connect an agent");
  }
}

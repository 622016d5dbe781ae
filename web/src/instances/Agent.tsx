import { Alert, SimpleGrid, Text, Title } from "@mantine/core";
import { IconVolumeOff } from "@tabler/icons-react";
import { ago, bytes, plural } from "../ui/format";
import { Panel } from "../ui/Panel";
import { Time } from "../ui/Time";
import { dropped, hasGone, type MeasuringAgent, tookOver, uncounted, waiting } from "./agentSays";
import { Fact } from "./Fact";

/** Agent is the agent that measures a server: how it is, what it could not send yet, and what it never will. */
export function Agent({ agent, now }: { agent: MeasuringAgent; now: Date }) {
  const lost = dropped(agent);
  return (
    <Panel data-agent>
      <Title order={2}>Agent</Title>
      <Text size="sm" c="dimmed" mt={4} mb="md" maw="70ch">
        An agent near this server measures and assesses it. It reports once a minute.
      </Text>
      {hasGone(agent, now) && (
        <Alert color="yellow" variant="outline" mb="md" icon={<IconVolumeOff aria-hidden />} data-agent-silent>
          <Text fw={600} size="sm">
            The agent is silent: it reported last {ago(agent.seenAt, now)}
          </Text>
          <Text size="sm">
            Check that the agent runs and reaches Muster. It keeps its measurements and sends them when it reaches
            Muster again.
          </Text>
        </Alert>
      )}
      {agent.loops.length > 0 && (
        <Alert
          color={agent.loops.some((l) => l.inTrouble) ? "red" : "yellow"}
          variant="outline"
          mb="md"
          data-agent-loops
        >
          <Text fw={600} size="sm">
            {plural(agent.loops.length, "background loop")} of the agent fell in the last 24 hours
          </Text>
          {agent.loops.map((l) => (
            <Text key={l.loop} size="sm">
              <bdi>{l.loop}</bdi>: {plural(l.falls, "time")}, last <Time at={l.lastAt} relative />
              {l.inTrouble ? ", in trouble" : ", running again"}
            </Text>
          ))}
          <Text size="sm" c="dimmed">
            The agent restarts a loop that falls. Its log says why.
          </Text>
        </Alert>
      )}
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="lg" component="dl" m={0}>
        <Fact name="Name">
          <bdi>{agent.name}</bdi>
        </Fact>
        <Fact name="Runs on">
          <bdi>{agent.host || "unknown"}</bdi>
        </Fact>
        <Fact name="Version">{agent.version || "unknown"}</Fact>
        <Fact name="Last report">
          <Time at={agent.seenAt} relative />
        </Fact>
        <Fact name="Waits to be sent">
          {waiting(agent)}
          {agent.oldestBufferedAt && (
            <Text size="xs" c="dimmed">
              The oldest is of <Time at={agent.oldestBufferedAt} />. It keeps {bytes(agent.maxBytes)} at most.
            </Text>
          )}
        </Fact>
        {agent.takeover && (
          <Fact name="Last takeover">
            <Time at={agent.takeover.at} relative />
            <Text size="xs" c="dimmed" data-takeover>
              <bdi>{tookOver(agent.takeover)}</bdi>, which had sent none for five minutes.{" "}
              {uncounted(agent.takeover) && (
                <>
                  Statements that ran from <Time at={agent.takeover.from} />{" "}
                  {agent.takeover.to ? (
                    <>
                      to <Time at={agent.takeover.to} /> are not counted.
                    </>
                  ) : (
                    "on are not counted yet."
                  )}
                </>
              )}
            </Text>
          </Fact>
        )}
        <Fact name="Refused">
          {agent.refused === 0 ? "nothing" : plural(agent.refused, "fact")}
          {agent.refused > 0 && (
            <Text size="xs" c="dimmed">
              Muster did not take them as they are; the agent's log says why. It tries again every hour.
            </Text>
          )}
        </Fact>
        <Fact name="Never sent">
          {lost.length === 0 && "nothing"}
          {lost.map(({ why, text }) => (
            <Text key={why} size="sm">
              {text}
            </Text>
          ))}
          {lost.length > 0 && (
            <Text size="xs" c="dimmed">
              Records of measurements, since the agent was installed.
            </Text>
          )}
        </Fact>
      </SimpleGrid>
    </Panel>
  );
}

import { Button, Text } from "@mantine/core";
import { IconCircleCheck, IconCircleX } from "@tabler/icons-react";
import { useMutation } from "@tanstack/react-query";
import { client, type Schemas } from "../api/client";
import { asProblem } from "../api/problem";
import { count } from "../ui/format";
import { Mark } from "../ui/Mark";
import { OutboxMark } from "./marks";
import { type Channel, codeText } from "./words";

/** ChannelTest sends a test through a channel and shows what the other side answered. */
export function ChannelTest({ channel }: { channel: Pick<Channel, "id" | "name" | "kind"> }) {
  const test = useMutation({
    mutationFn: async () =>
      (await client.POST("/api/v1/channels/{channelId}/test", { params: { path: { channelId: channel.id } } })).data,
  });
  return (
    <div style={{ textAlign: "left", maxWidth: 240 }}>
      <Button
        size="compact-sm"
        variant="default"
        loading={test.isPending}
        aria-label={`Test ${channel.name}`}
        onClick={() => test.mutate()}
      >
        Test
      </Button>
      <Text size="sm" component="div" role="status">
        {test.data && <Answer kind={channel.kind} answer={test.data} />}
        {test.error && (
          <>
            <Mark tone="bad" icon={<IconCircleX size={16} aria-hidden />}>
              No test was sent
            </Mark>
            <Text size="xs">{asProblem(test.error).message}</Text>
          </>
        )}
      </Text>
    </div>
  );
}

function Answer({ kind, answer }: { kind: string; answer: Schemas["ChannelTest"] }) {
  const code = codeText(kind, answer.statusCode);
  if (answer.outbox) {
    return (
      <div data-answer="outbox">
        <OutboxMark />
      </div>
    );
  }
  const said = answer.ok ? "It works" : "It failed";
  const how = code ?? (answer.ok ? null : "No answer");
  return (
    <div data-answer={answer.ok ? "ok" : "failed"}>
      <Mark
        tone={answer.ok ? "good" : "bad"}
        icon={answer.ok ? <IconCircleCheck size={16} aria-hidden /> : <IconCircleX size={16} aria-hidden />}
      >
        {said}: {how && `${how}, `}
        {count(answer.durationMs)} ms
      </Mark>
      {answer.error && <Text size="xs">{answer.error}</Text>}
    </div>
  );
}

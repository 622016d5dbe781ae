import { Alert, Code, Text } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import versions from "../../../internal/servers/met.json";
import { engineName } from "../ui/format";

/** MetLive says of which versions of an engine Muster has met live servers, or that it has met none. */
export function MetLive({ engine }: { engine: string }) {
  const live = versions.find((v) => v.engine === engine)?.met ?? [];
  if (live.length === 0) return <NeverMet engine={engine} />;
  return (
    <Text size="xs" c="dimmed">
      Tested with live servers of {engineName(engine)} {live.join(", ")}.
    </Text>
  );
}

/** neverMet says whether Muster's collector of an engine has met no live server of it. */
const neverMet = (engine: string) => versions.some((v) => v.engine === engine && v.met.length === 0);

/** NeverMet says so, where it is the case, and how to help. */
export function NeverMet({ engine }: { engine: string }) {
  if (!neverMet(engine)) return null;
  return (
    <Alert variant="default" icon={<IconInfoCircle aria-hidden />} data-never-met={engine}>
      <Text size="sm">
        Muster has not met a live {engineName(engine)} yet: its queries were written from the documentation. If figures
        look wrong, <Code>muster agent check --report FILE</Code> writes what its developers need, without names and
        values. See docs/administrators.md, "Which servers Muster has met".
      </Text>
    </Alert>
  );
}

import { Alert, Code, Text } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import versions from "../../../internal/servers/met.json";
import { engineName } from "../engines";

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

/** untried says of a version that its major is newer than all that Muster was tried with; null where it is not. */
export function untried(engine: string, version: string | null): string | null {
  const newest = Number(versions.find((v) => v.engine === engine)?.met.at(-1) ?? 0);
  const number = Number(/\d+/.exec(version ?? "")?.[0] ?? 0);
  const major = number >= 10_000 ? Math.floor(number / 10_000) : number;
  return newest > 0 && major > newest ? `newer than the newest tried (${newest})` : null;
}

/** NeverMet says so, where it is the case, of an engine or of a major version of it, and how to help. */
export function NeverMet({ engine, version = null }: { engine: string; version?: string | null }) {
  const newer = untried(engine, version);
  if (newer) {
    return (
      <Alert variant="default" icon={<IconInfoCircle aria-hidden />} data-never-met={engine}>
        <Text size="sm">
          {engineName(engine)} {version} is {newer}. Checks and measurements may miss what the version changed. If
          figures look wrong, <Code>muster agent check --report FILE</Code> writes what Muster's developers need,
          without names and values.
        </Text>
      </Alert>
    );
  }
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

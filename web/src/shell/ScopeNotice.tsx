import { Alert, Button, Group, Text } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import { plural } from "../ui/format";
import { useScope } from "../window/scope";
import { useChosenInstances } from "./instances";

/** ScopeNotice says how many of the filter's ids nobody has; they stay in it, so that it never shows more than it names. */
export function ScopeNotice() {
  const { filter, setServers } = useScope();
  const instanceIds = filter.instanceId;
  const chosen = useChosenInstances(instanceIds);
  if (!instanceIds || !chosen.data || chosen.isPlaceholderData) return null;
  const known = new Set(chosen.data.items.map((i) => i.id));
  const unknown = instanceIds.filter((id) => !known.has(id));
  if (unknown.length === 0) return null;
  const rest = instanceIds.filter((id) => known.has(id));
  return (
    <Alert color="yellow" mb="md" py="xs" role="status" icon={<IconInfoCircle aria-hidden />}>
      <Group justify="space-between" gap="xs">
        <Text size="sm">
          {plural(unknown.length, "unknown instance")} in the filter. There is nothing to show for{" "}
          {unknown.length === 1 ? "it" : "them"}.
        </Text>
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => setServers({ ...filter, instanceId: rest.length > 0 ? rest : undefined })}
        >
          {rest.length > 0 ? `Leave ${unknown.length === 1 ? "it" : "them"} out` : "Show all instances"}
        </Button>
      </Group>
    </Alert>
  );
}

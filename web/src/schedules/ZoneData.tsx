import { Alert, Text } from "@mantine/core";
import { IconClockExclamation } from "@tabler/icons-react";
import { api } from "../api/client";

/** useZoneData is which rules of time zones the server computes by. */
const useZoneData = () => api.useQuery("get", "/version", {}, { staleTime: 3_600_000 }).data?.timeZoneData;

/** ZoneData names the rules by which due times are computed, and says where they are old. */
export function ZoneData() {
  const data = useZoneData();
  if (!data) return null;
  return (
    <>
      <Text size="xs" c="dimmed" mt="sm" data-zone-data>
        Time zone data: {data.release ?? "newer than the program's"} (
        {data.source === "embedded" ? "Muster's own" : data.source})
      </Text>
      <StaleZones />
    </>
  );
}

/** StaleZones warns where the rules are older than a year. */
export function StaleZones() {
  const data = useZoneData();
  if (!data?.stale) return null;
  return (
    <Alert
      color="yellow"
      variant="outline"
      mt="sm"
      mb="sm"
      icon={<IconClockExclamation aria-hidden />}
      title="Old time zone data"
    >
      The time zone data {data.release} is older than a year. Where a zone has new rules, due times and quiet hours can
      be an hour off. Upgrade Muster, or the package tzdata on its machine.
    </Alert>
  );
}

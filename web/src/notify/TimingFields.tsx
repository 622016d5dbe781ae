import { Checkbox, Group, Select, Stack, Switch, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useMemo } from "react";
import { ownScroll } from "../reports/requestChoices";
import { timeZones } from "../schedules/words";
import { duration } from "../ui/format";
import type { RuleForm } from "./ruleForm";

const choices = (values: number[], milliseconds: number, none: string, now: string) =>
  [...new Set([...values, Number(now)])]
    .sort((a, b) => a - b)
    .map((n) => ({ value: String(n), label: n === 0 ? none : duration(n * milliseconds) }));

/** TimingFields are when a rule tells: how long it waits for more, whether again, and when not. */
export function TimingFields({ form }: { form: UseFormReturnType<RuleForm> }) {
  const { isQuiet, quietZone, groupSeconds, repeatMinutes } = form.values;
  const zones = useMemo(() => timeZones(...(quietZone ? [quietZone] : [])), [quietZone]);
  return (
    <Stack gap="sm">
      <Group align="flex-start" gap="md">
        <Select
          label="Wait for more events"
          description="Sent together in one notification"
          flex={{ base: "1 1 100%", xs: "0 0 220px" }}
          allowDeselect={false}
          data={choices([0, 10, 30, 60, 300, 900, 3600], 1_000, "Do not wait", groupSeconds)}
          {...form.getInputProps("groupSeconds")}
        />
        <Select
          label="Repeat"
          description="While open and not acknowledged"
          flex={{ base: "1 1 100%", xs: "0 0 220px" }}
          allowDeselect={false}
          data={choices([0, 30, 60, 240, 720, 1440], 60_000, "Never", repeatMinutes)}
          {...form.getInputProps("repeatMinutes")}
        />
      </Group>
      <Switch
        label="Quiet hours"
        description="Alerts that match during quiet hours are sent together when the quiet hours end. Alerts that were also resolved by then are not sent."
        checked={isQuiet}
        onChange={(event) => form.setFieldValue("isQuiet", event.currentTarget.checked)}
      />
      {isQuiet && (
        <>
          <Group align="flex-start" gap="md">
            <TextInput
              type="time"
              label="From"
              flex={{ base: "1 1 0", xs: "0 0 120px" }}
              {...form.getInputProps("quietFrom")}
            />
            <TextInput
              type="time"
              label="To"
              flex={{ base: "1 1 0", xs: "0 0 120px" }}
              {...form.getInputProps("quietTo")}
            />
            <Select
              label="Time zone"
              flex={{ base: "1 1 100%", xs: "0 1 240px" }}
              searchable
              allowDeselect={false}
              limit={100}
              nothingFoundMessage="No time zone matches"
              {...ownScroll}
              data={zones}
              {...form.getInputProps("quietZone")}
            />
          </Group>
          <Checkbox
            label="Send critical alerts at once"
            {...form.getInputProps("exceptCritical", { type: "checkbox" })}
          />
        </>
      )}
    </Stack>
  );
}

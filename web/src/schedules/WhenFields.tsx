import { Group, Input, SegmentedControl, Select, Stack, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useMemo } from "react";
import { ownScroll } from "../reports/requestChoices";
import type { ScheduleForm } from "./form";
import { dayName, dayOfMonthName, lacking, lastDay, timeZones, weekdays } from "./words";

const oftens: { value: ScheduleForm["every"]; label: string }[] = [
  { value: "day", label: "Every day" },
  { value: "week", label: "Every week" },
  { value: "month", label: "Every month" },
];

const days = [...Array.from({ length: 31 }, (_, n) => n + 1), lastDay].map((day) => ({
  value: String(day),
  label: dayOfMonthName(day),
}));

/** WhenFields are how often, on which day, at what time, and by whose clocks. */
export function WhenFields({ form }: { form: UseFormReturnType<ScheduleForm> }) {
  const { every, dayOfMonth, timeZone } = form.values;
  // The list is long: it is not sorted anew at each key.
  const zones = useMemo(() => timeZones(...(timeZone ? [timeZone] : [])), [timeZone]);
  return (
    <Stack gap="sm">
      <Input.Wrapper
        label="How often"
        labelElement="div"
        labelProps={{ id: "schedule-every", display: "block" }}
        error={form.errors.every}
      >
        <SegmentedControl
          mt={6}
          aria-labelledby="schedule-every"
          data={oftens}
          value={every}
          onChange={(next) => form.setFieldValue("every", next as ScheduleForm["every"])}
        />
      </Input.Wrapper>
      <Group align="flex-start" gap="md">
        {every === "week" && (
          <Select
            label="Weekday"
            flex={{ base: "1 1 0", xs: "0 0 180px" }}
            allowDeselect={false}
            {...ownScroll}
            data={weekdays.map((value) => ({ value, label: dayName(value) }))}
            {...form.getInputProps("weekday")}
          />
        )}
        {every === "month" && (
          <Select
            label="Day of the month"
            description={lacking(Number(dayOfMonth))}
            inputWrapperOrder={["label", "input", "description", "error"]}
            flex={{ base: "1 1 0", xs: "0 0 220px" }}
            allowDeselect={false}
            {...ownScroll}
            data={days}
            {...form.getInputProps("dayOfMonth")}
          />
        )}
        <TextInput type="time" label="Time" flex="0 0 120px" {...form.getInputProps("at")} />
        <Select
          label="Time zone"
          flex={{ base: "1 1 100%", xs: "0 1 260px" }}
          searchable
          allowDeselect={false}
          limit={100}
          nothingFoundMessage="No time zone matches"
          {...ownScroll}
          data={zones}
          {...form.getInputProps("timeZone")}
        />
      </Group>
    </Stack>
  );
}

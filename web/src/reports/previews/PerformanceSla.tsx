import { Group, Text } from "@mantine/core";
import { IconCircleCheck, IconCircleX } from "@tabler/icons-react";
import { Figures, Part, SampleTable, Sparkline } from "./parts";
import { performanceSla as sample } from "./sampleData";

/** PerformanceSla previews the Performance & SLA Summary. */
export function PerformanceSla() {
  return (
    <>
      <Figures figures={sample.figures} />
      <Part title="Average latency by day">
        <Sparkline
          values={sample.latency}
          label="Average latency by day in October: about 4 ms, up to 7.4 ms from the 13th to the 17th"
          start="1 Oct"
          end="31 Oct"
          format={(value) => `${value} ms`}
        />
      </Part>
      <Part title="Services against their targets">
        <SampleTable
          label="Services against their targets"
          columns={[
            { name: "Service" },
            { name: "Availability", right: true },
            { name: "Target", right: true },
            { name: "Average latency", right: true },
            { name: "At most", right: true },
            { name: "Result" },
          ]}
          rows={sample.services.map((service) => ({
            key: service.name,
            cells: [
              service.name,
              `${service.availability.toFixed(2)} %`,
              `${service.availabilityTarget.toFixed(2)} %`,
              `${service.latency.toFixed(1)} ms`,
              `${service.latencyTarget} ms`,
              <Result
                key="result"
                kept={service.availability >= service.availabilityTarget && service.latency <= service.latencyTarget}
              />,
            ],
          }))}
        />
      </Part>
    </>
  );
}

function Result({ kept }: { kept: boolean }) {
  return (
    <Group gap={6} wrap="nowrap">
      {kept ? <IconCircleCheck size={16} aria-hidden /> : <IconCircleX size={16} aria-hidden />}
      <Text size="sm" fw={kept ? 400 : 600}>
        {kept ? "Kept" : "Missed"}
      </Text>
    </Group>
  );
}

import { Input, SegmentedControl, SimpleGrid, Stack, TextInput } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { serverNow } from "../api/clock";
import { reportKinds } from "./kinds";
import { type FieldTexts, type Fill, fieldId, type Span, withSpan } from "./requestForm";

const spans: { value: Span; label: string }[] = [
  { value: "1d", label: "Past day" },
  { value: "7d", label: "Past 7 days" },
  { value: "30d", label: "Past 30 days" },
  { value: "custom", label: "Custom range" },
];

/** DateRange chooses the window of a report: a preset that ends now, or two instants in UTC. */
export function DateRange({ fill, wrong, change }: { fill: Fill; wrong: FieldTexts; change: (next: Fill) => void }) {
  const { windowDays } = reportKinds[fill.kind];
  const daily = windowDays === 1;
  const narrow = useMediaQuery("(max-width: 30em)");
  const custom = fill.span === "custom";
  // A preset has no inputs of its own for what the server has against its ends.
  const refused = custom ? undefined : [wrong.from, wrong.to].filter(Boolean).join(" ") || undefined;
  return (
    <Stack gap="sm">
      <Input.Wrapper
        label="Date range"
        labelElement="div"
        labelProps={{ id: "request-range", display: "block" }}
        description={`In UTC, to the minute; at most ${daily ? "25 hours" : `${windowDays} days`}`}
        descriptionProps={{ id: "request-range-description" }}
        error={refused}
        errorProps={{ id: "request-range-error" }}
      >
        <SegmentedControl
          mt={6}
          fullWidth={narrow}
          orientation={narrow ? "vertical" : "horizontal"}
          aria-labelledby="request-range"
          aria-invalid={refused ? true : undefined}
          aria-describedby={refused ? "request-range-description request-range-error" : "request-range-description"}
          id={custom ? undefined : fieldId("from")}
          data={spans.filter(({ value }) => value === "custom" || (value === "1d") === daily)}
          value={fill.span}
          onChange={(span) => change(withSpan(fill, span as Span, serverNow()))}
        />
      </Input.Wrapper>
      {custom && (
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <Instant name="from" label="From (UTC)" fill={fill} wrong={wrong} change={change} />
          <Instant name="to" label="To (UTC)" fill={fill} wrong={wrong} change={change} />
        </SimpleGrid>
      )}
    </Stack>
  );
}

function Instant({
  name,
  label,
  fill,
  wrong,
  change,
}: {
  name: "from" | "to";
  label: string;
  fill: Fill;
  wrong: FieldTexts;
  change: (next: Fill) => void;
}) {
  return (
    <TextInput
      id={fieldId(name)}
      type="datetime-local"
      label={label}
      min="2000-01-01T00:00"
      max="9999-12-31T23:59"
      value={fill[name]}
      onChange={(event) => change({ ...fill, [name]: event.currentTarget.value })}
      error={wrong[name]}
    />
  );
}

import { ActionIcon, Group, NativeSelect, NumberInput, Switch, Text } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconX } from "@tabler/icons-react";
import { severityName } from "../alerts/badges";
import { TagWords } from "../teams/TagWords";
import { severities } from "../url/schemas";
import { type Line, type Rule, restText } from "./lines";
import classes from "./watch.module.css";

type Fields = {
  rule: Rule;
  line: Line;
  /** The value in force, where it is another one. */
  was: number | undefined;
  place: number;
  of: number;
  error: string | undefined;
  onChange: (change: Partial<Line>) => void;
  onMove: (by: -1 | 1) => void;
  onRemove: () => void;
};

/** NeverRaised stands for the values of a setting that is off. */
export const NeverRaised = () => (
  <Text size="sm" c="dimmed">
    never raised
  </Text>
);

/** LineFields is a setting of a rule in a line: for which servers, when, how bad. */
export function LineFields({ rule, line, was, place, of, error, onChange, onMove, onRemove }: Fields) {
  const last = place === of - 1;
  const about = last ? restText(of).toLowerCase() : line.tags.join(", ") || `setting ${place + 1}`;
  return (
    <fieldset className={classes.line} aria-label={about}>
      <Group gap={2} wrap="nowrap">
        {!last && (
          <>
            <ActionIcon
              variant="subtle"
              size="sm"
              aria-label={`Move ${about} up`}
              disabled={place === 0}
              onClick={() => onMove(-1)}
            >
              <IconArrowUp size={14} aria-hidden />
            </ActionIcon>
            <ActionIcon
              variant="subtle"
              size="sm"
              aria-label={`Move ${about} down`}
              disabled={place >= of - 2}
              onClick={() => onMove(1)}
            >
              <IconArrowDown size={14} aria-hidden />
            </ActionIcon>
            <ActionIcon variant="subtle" size="sm" aria-label={`Remove ${about}`} onClick={onRemove}>
              <IconX size={14} aria-hidden />
            </ActionIcon>
          </>
        )}
      </Group>
      {last ? (
        <Text size="sm">{restText(of)}</Text>
      ) : (
        <TagWords
          bare
          label="Servers with tags"
          value={line.tags}
          onChange={(tags) => onChange({ tags })}
          error={null}
        />
      )}
      <Switch
        aria-label={`On for ${about}`}
        checked={line.enabled}
        disabled={!rule.measured}
        onChange={(event) => onChange({ enabled: event.currentTarget.checked })}
      />
      {!line.enabled ? (
        <NeverRaised />
      ) : (
        <>
          <span className={classes.value}>
            {rule.unit !== null && (
              <>
                <NumberInput
                  aria-label={`Threshold for ${about}`}
                  w={84}
                  allowDecimal={false}
                  value={line.threshold}
                  onChange={(threshold) => onChange({ threshold })}
                />
                <Text size="sm" component="span">
                  {rule.unit}
                </Text>
                {was !== undefined && (
                  <Text size="sm" c="dimmed" td="line-through" component="span">
                    <span className="visually-hidden">was </span>
                    {was}
                  </Text>
                )}
              </>
            )}
          </span>
          <span className={classes.value}>
            <Text size="sm" component="span">
              for
            </Text>
            <NumberInput
              aria-label={`Seconds for ${about}`}
              w={80}
              allowDecimal={false}
              value={line.forSeconds}
              onChange={(forSeconds) => onChange({ forSeconds })}
            />
            <Text size="sm" component="span">
              s
            </Text>
          </span>
          <NativeSelect
            aria-label={`Severity for ${about}`}
            value={line.severity}
            onChange={(event) => onChange({ severity: event.currentTarget.value as Line["severity"] })}
            data={severities.map((value) => ({ value, label: severityName(value) }))}
          />
        </>
      )}
      {error && (
        <Text size="sm" c="red" role="alert" style={{ gridColumn: "1 / -1" }}>
          {error}
        </Text>
      )}
    </fieldset>
  );
}

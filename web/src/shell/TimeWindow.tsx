import { ActionIcon, Button, Divider, Popover, Switch, Text, TextInput } from "@mantine/core";
import { IconChevronDown, IconChevronLeft, IconChevronRight, IconClock } from "@tabler/icons-react";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import { serverNow } from "../api/clock";
import { type CustomErrors, fieldOf, readCustom } from "../window/custom";
import { useScope } from "../window/scope";
import { presetNames, presets } from "../window/window";
import { bucketWords, windowLabel, zoneName } from "../window/words";
import { useFocusAtSight } from "./useFocusAtSight";

type Props = {
  opened: boolean;
  onChange: (opened: boolean) => void;
  /** The page shows all times where its address has no window. */
  anyTime: boolean;
  /** The page can show the window before beside this one. */
  comparable: boolean;
};

/** TimeWindow chooses the window: a preset that ends now and moves on Refresh, or a range that stays. */
export function TimeWindow({ opened, onChange, anyTime, comparable }: Props) {
  const scope = useScope();
  const { range, from } = scope.search;
  const unbounded = anyTime && range === undefined && from === undefined;
  const text = unbounded ? "Any time" : windowLabel(scope.window);
  const close = () => onChange(false);
  const chooser = (
    <Popover opened={opened} onChange={onChange} position="bottom-start" width={320} trapFocus returnFocus withinPortal>
      <Popover.Target>
        <Button
          className="shell-window"
          size="xs"
          h={32}
          variant="default"
          leftSection={<IconClock size={16} aria-hidden />}
          rightSection={<IconChevronDown size={14} aria-hidden />}
          onClick={() => onChange(!opened)}
          aria-label={`Time: ${text}${unbounded ? "" : `, ${bucketWords[scope.window.bucketSize]}`}`}
          data-window
        >
          {text}
          {!unbounded && !anyTime && <span className="shell-bucket"> · {bucketWords[scope.window.bucketSize]}</span>}
        </Button>
      </Popover.Target>
      <Popover.Dropdown p="sm" maw="calc(100vw - 16px)">
        <Text size="sm" fw={600} mb={4}>
          Up to now
        </Text>
        <Presets>
          {presets.map((preset) => (
            <Choice
              key={preset}
              name={presetNames[preset]}
              chosen={!unbounded && scope.window.preset === preset}
              choose={() => {
                scope.setPreset(preset);
                close();
              }}
            />
          ))}
          {anyTime && (
            <Choice
              name="Any time"
              chosen={unbounded}
              choose={() => {
                scope.clearWindow();
                close();
              }}
            />
          )}
        </Presets>
        {!unbounded && (
          <div className="shell-steps">
            <Button size="compact-md" fz="sm" variant="default" onClick={scope.back}>
              Back by a window
            </Button>
            <Button
              size="compact-md"
              fz="sm"
              variant="default"
              disabled={scope.forward === null}
              onClick={scope.forward ?? undefined}
            >
              Forward
            </Button>
          </div>
        )}
        {comparable && (
          <Switch
            mt="sm"
            label="Compare with the window before"
            checked={scope.compares}
            onChange={(event) => scope.setCompares(event.currentTarget.checked)}
          />
        )}
        <Divider my="sm" />
        <Custom onApplied={close} />
      </Popover.Dropdown>
    </Popover>
  );
  if (unbounded) return chooser;
  return (
    <Button.Group className="shell-when">
      <Step name="Back by a window" onClick={scope.back}>
        <IconChevronLeft size={16} aria-hidden />
      </Step>
      {chooser}
      <Step name="Forward by a window" onClick={scope.forward}>
        <IconChevronRight size={16} aria-hidden />
      </Step>
    </Button.Group>
  );
}

/** Step is disabled for the eye and the ear only where there is none: whoever steps with the keys keeps the focus. */
function Step({ name, onClick, children }: { name: string; onClick: (() => void) | null; children: ReactNode }) {
  return (
    <ActionIcon
      className="shell-step"
      variant="default"
      w={26}
      miw={26}
      h={32}
      aria-label={name}
      aria-disabled={onClick === null || undefined}
      data-disabled={onClick === null || undefined}
      onClick={onClick ?? undefined}
    >
      {children}
    </ActionIcon>
  );
}

/** Presets has the focus where the popover opens, on the chosen one. */
function Presets({ children }: { children: ReactNode }) {
  const root = useRef<HTMLDivElement>(null);
  useFocusAtSight(root);
  return (
    <div className="presets" ref={root}>
      {children}
    </div>
  );
}

function Choice({ name, chosen, choose }: { name: string; chosen: boolean; choose: () => void }) {
  return (
    <Button
      size="compact-md"
      fz="sm"
      fw={chosen ? 600 : 500}
      justify="flex-start"
      variant={chosen ? "light" : "subtle"}
      color={chosen ? undefined : "gray"}
      aria-pressed={chosen}
      data-autofocus={chosen || undefined}
      onClick={choose}
    >
      {name}
    </Button>
  );
}

function Custom({ onApplied }: { onApplied: () => void }) {
  const { window, setCustom } = useScope();
  const [from, setFrom] = useState(() => fieldOf(window.from));
  const [to, setTo] = useState(() => fieldOf(window.to));
  const [errors, setErrors] = useState<CustomErrors>({});
  const start = useRef<HTMLInputElement>(null);
  const end = useRef<HTMLInputElement>(null);
  const apply = (event: FormEvent) => {
    event.preventDefault();
    const read = readCustom(from, to, serverNow());
    setErrors(read.errors ?? {});
    if (read.range) {
      setCustom(read.range.from, read.range.to);
      onApplied();
    } else (read.errors.from ? start : end).current?.focus();
  };
  return (
    <form onSubmit={apply} noValidate aria-label="Fixed range">
      <Text size="sm" fw={600} mb={4}>
        Fixed range
      </Text>
      <TextInput
        ref={start}
        type="datetime-local"
        label="From"
        size="xs"
        value={from}
        error={errors.from}
        onChange={(event) => setFrom(event.currentTarget.value)}
      />
      <TextInput
        ref={end}
        type="datetime-local"
        label="To"
        size="xs"
        mt="xs"
        value={to}
        error={errors.to}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
      <Text size="xs" c="dimmed" mt="xs">
        In your browser’s time zone, {zoneName()}
      </Text>
      <Button type="submit" size="xs" mt="xs" fullWidth>
        Apply
      </Button>
    </form>
  );
}

import { Button, Loader, Menu, Tooltip } from "@mantine/core";
import { IconChevronDown, IconRefresh } from "@tabler/icons-react";
import { type Query, useIsFetching } from "@tanstack/react-query";
import { sessionQuery } from "../api/session";
import { absoluteTime } from "../ui/format";
import { type Interval, intervalNames, intervals } from "../window/refresh";
import { useAnchor, useScope } from "../window/scope";

/** What a page shows; not who is signed in, and not what is polled every few seconds, whoever looks. */
const ofThePage = (query: Query) =>
  query.queryKey[0] !== sessionQuery.queryKey[0] && !query.observers.some((o) => o.options.refetchInterval);

/**
 * RefreshButton moves the end of relative windows to now and reads the page anew; it shows while anything is read. Beside
 * it is how often that happens by itself.
 */
export function RefreshButton() {
  const { asked, move } = useAnchor();
  const { refresh } = useScope();
  const fetching = useIsFetching({ predicate: ofThePage }) > 0;
  const by = refresh ? `. ${intervalNames[refresh]}` : "";
  return (
    <Button.Group className="shell-live" data-on={refresh}>
      <Tooltip label={`Last refreshed ${absoluteTime(new Date(asked))}${by}`}>
        <Button
          className="shell-refresh"
          size="xs"
          h={32}
          miw={32}
          variant="default"
          leftSection={fetching ? <Loader size={16} color="gray" aria-hidden /> : <IconRefresh size={16} aria-hidden />}
          aria-label="Refresh"
          aria-busy={fetching}
          onClick={move}
        >
          <span className="shell-refresh-label">Refresh</span>
        </Button>
      </Tooltip>
      <IntervalMenu />
    </Button.Group>
  );
}

function IntervalMenu() {
  const { refresh, setRefresh } = useScope();
  const choices: [string, string][] = [
    ["off", "Only when asked"],
    ...intervals.map((i): [string, string] => [i, intervalNames[i]]),
  ];
  return (
    <Menu position="bottom-end" width={200} withinPortal>
      <Menu.Target>
        <Button
          className="shell-interval"
          size="xs"
          h={32}
          px={5}
          variant="default"
          rightSection={<IconChevronDown size={14} aria-hidden />}
          aria-label={`Live: ${refresh ?? "off"}`}
        >
          <span className="shell-refresh-label">{refresh}</span>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Live</Menu.Label>
        <Menu.RadioGroup
          value={refresh ?? "off"}
          onChange={(value) => setRefresh(value === "off" ? undefined : (value as Interval))}
        >
          {choices.map(([value, name]) => (
            <Menu.RadioItem key={value} value={value} closeMenuOnClick>
              {name}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}

import { Button, Loader, Tooltip } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { type Query, useIsFetching } from "@tanstack/react-query";
import { sessionQuery } from "../api/session";
import { absoluteTime } from "../ui/format";
import { useAnchor } from "../window/scope";

/** What a page shows; not who is signed in, and not what is polled every few seconds, whoever looks. */
const ofThePage = (query: Query) =>
  query.queryKey[0] !== sessionQuery.queryKey[0] && !query.observers.some((o) => o.options.refetchInterval);

/** RefreshButton moves the end of relative windows to now and reads the page anew; it shows while anything is read. */
export function RefreshButton() {
  const { at, move } = useAnchor();
  const fetching = useIsFetching({ predicate: ofThePage }) > 0;
  return (
    <Tooltip label={`Last refreshed ${absoluteTime(at)}`}>
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
  );
}

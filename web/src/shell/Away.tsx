import { Alert, Button, Text } from "@mantine/core";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { useState } from "react";
import { useAway, useProbing } from "../api/away";
import { absoluteTime } from "../ui/format";

/**
 * AwayBanner says that the server cannot be reached, and since when. What the page shows stays below it as it was; blank
 * is a page that shows nothing yet. It is also what asks for the server, so there is one of it.
 */
export function AwayBanner({ blank = false }: { blank?: boolean }) {
  const away = useAway();
  const { tryNow, trying } = useProbing();
  const [returned, setReturned] = useState<boolean | null>(null);
  if (away && returned !== false) setReturned(false);
  if (!away && returned === false) setReturned(true);
  return (
    <>
      <div className="visually-hidden" role="status">
        {returned && "The server can be reached again."}
      </div>
      {away && (
        <Alert
          className="away-banner"
          color="yellow"
          role="alert"
          icon={<IconPlugConnectedX aria-hidden />}
          title={away.problem.status === 503 ? "The server is not available" : "The server cannot be reached"}
        >
          <Text size="sm">
            Since <time dateTime={away.since.toISOString()}>{absoluteTime(away.since)}</time>.
            {blank
              ? " The page opens automatically when the server answers again."
              : " This page shows earlier data. It updates automatically when the server answers again."}
          </Text>
          <Button size="xs" variant="default" mt="xs" onClick={tryNow} loading={trying}>
            Try now
          </Button>
        </Alert>
      )}
    </>
  );
}

import { List, Skeleton, Text } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData } from "@tanstack/react-query";
import { api } from "../api/client";
import { asProblem, fieldErrors } from "../api/problem";
import { fromNow } from "../ui/format";
import { useNow } from "../ui/now";
import { dueText, inZone, ownZone, type Recurrence } from "./words";
import { ZoneData } from "./ZoneData";

type Given = { dues: string[]; local: string[] | undefined; timeZone: string };

/** Dues are due times, by the clocks of their zone as the server knows them and, where these differ, by the reader's. */
export function Dues({ dues, local, timeZone }: Given) {
  const now = useNow(60_000);
  const own = ownZone();
  return (
    <>
      <List type="ordered" size="sm" spacing={6} data-dues>
        {dues.map((at, n) => {
          const shown = dueText(local?.[n], at, timeZone);
          return (
            <List.Item key={at}>
              <time dateTime={at} className="numbers">
                {shown}
              </time>
              <Text span size="xs" c="dimmed">
                {" "}
                ({fromNow(at, now)})
              </Text>
              {own !== timeZone && inZone(at, own) !== shown && (
                <Text size="xs" c="dimmed" className="numbers">
                  {inZone(at, own)} in your time zone
                </Text>
              )}
            </List.Item>
          );
        })}
      </List>
      <ZoneData />
    </>
  );
}

/** NextDues asks the server when a schedule that is being filled in would be due; null is not all there yet. */
export function NextDues({ recurrence }: { recurrence: Recurrence | null }) {
  const [asked] = useDebouncedValue(recurrence, 250);
  const preview = api.useQuery(
    "post",
    "/api/v1/schedules/preview",
    { body: asked ?? { every: "day", at: "00:00", timeZone: "UTC" } },
    { enabled: asked !== null, placeholderData: keepPreviousData, retry: false },
  );
  if (recurrence === null) {
    return (
      <Text size="sm" c="dimmed">
        Enter a time and a time zone.
      </Text>
    );
  }
  if (preview.error) {
    const { rest, fields } = fieldErrors(asProblem(preview.error), {
      "#/weekday": "weekday",
      "#/dayOfMonth": "dayOfMonth",
      "#/at": "at",
      "#/timeZone": "timeZone",
    });
    return (
      <Text size="sm" role="alert">
        {[...Object.values(fields), ...rest].join(" ")}
      </Text>
    );
  }
  if (!preview.data) return <Skeleton height={120} />;
  return (
    <div aria-busy={preview.isPlaceholderData}>
      <Dues dues={preview.data.nextDueAts} local={preview.data.nextDueLocal} timeZone={recurrence.timeZone} />
    </div>
  );
}

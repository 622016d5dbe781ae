import { Alert, Text } from "@mantine/core";
import { IconInfoCircle } from "@tabler/icons-react";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { type Dropped, parseSearch } from "../url/search";

/** How the page was arrived at. The router takes out of the address what is dropped before there is anybody to say so. */
const arrived = { path: location.pathname, search: location.search };

/** SearchNotices says what of an address could not be used, and takes it out of the address. */
export function SearchNotices() {
  const [said, setSaid] = useState<{ path: string; dropped: Dropped[] }>({ path: "", dropped: [] });
  const navigate = useNavigate();
  const path = useRouterState({ select: (s) => s.location.pathname });
  const raw = useRouterState({ select: (s) => s.location.searchStr });
  const schema = useRouterState({
    select: (s) => {
      const match = s.matches[s.matches.length - 1];
      // While a page is being loaded the address is already its, and the match still that of the page before: on the
      // way Back from an alert the list's filters would be taken for parameters that the alert's page does not have.
      return match?.pathname === s.location.pathname ? match.staticData.search : undefined;
    },
  });
  useEffect(() => {
    if (!schema) return;
    const present = schema.dropped(parseSearch(raw));
    const former = arrived.path === path ? schema.dropped(parseSearch(arrived.search)) : [];
    arrived.path = "";
    const all = new Map([...former, ...present].map((d) => [`${d.name}=${d.value}`, d]));
    if (all.size > 0) setSaid({ path, dropped: [...all.values()] });
    if (present.length > 0) {
      navigate({ to: ".", search: schema(parseSearch(raw)) as never, replace: true, resetScroll: false });
    }
  }, [raw, schema, path, navigate]);
  if (said.path !== path || said.dropped.length === 0) return null;
  return (
    <Alert
      color="yellow"
      mb="md"
      py="xs"
      icon={<IconInfoCircle aria-hidden />}
      withCloseButton
      closeButtonLabel="Dismiss"
      onClose={() => setSaid({ path: "", dropped: [] })}
      role="status"
    >
      {said.dropped.map((d) => (
        <Text size="sm" key={`${d.name}=${d.value}`}>
          {d.reason === "unknown"
            ? `The unknown parameter “${d.name}” was removed from the address.`
            : `The address contained ${d.name} “${d.value}”, which is not valid. It was removed.`}
        </Text>
      ))}
    </Alert>
  );
}

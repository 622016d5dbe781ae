import { Anchor } from "@mantine/core";
import { keepPreviousData } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "../api/client";
import { EpisodeLine } from "../blocking/EpisodeLine";
import { useSampled } from "../blocking/sampled";
import { useScope } from "../window/scope";
import { Few } from "./Few";

const listed = 4;

/** Blocking is who held up whom on a server, in the window of the page's charts. */
export function Blocking({ instanceId }: { instanceId: string }) {
  const { window, search } = useScope();
  const asked = api.useQuery(
    "get",
    "/api/v1/blocking",
    { params: { query: { from: window.from, to: window.to, instanceId: [instanceId], pageSize: listed } } },
    { placeholderData: keepPreviousData },
  );
  const sampled = useSampled(instanceId);
  return (
    <Few
      title="Blocking"
      asked={asked}
      none={
        sampled
          ? "No session waited for another in this window."
          : "Not known: no sessions were sampled in this window."
      }
      all={
        <Anchor
          size="sm"
          renderRoot={(props) => (
            <Link to="/blocking" search={{ ...search, instanceId: [instanceId] } as never} {...props} />
          )}
        >
          All blocking of this server
        </Anchor>
      }
    >
      {(asked.data?.items ?? []).map((e) => (
        <EpisodeLine key={e.id} episode={e} />
      ))}
    </Few>
  );
}

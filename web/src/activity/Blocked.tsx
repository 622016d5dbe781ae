import { Anchor } from "@mantine/core";
import { keepPreviousData } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "../api/client";
import { EpisodeLine } from "../blocking/EpisodeLine";
import { Few } from "../instances/Few";
import { useScope } from "../window/scope";

const listed = 4;

/** Blocked is who held up whom in the time that the tables are of. */
export function Blocked({ span: { from, to } }: { span: { from: string; to: string } }) {
  const { servers, search } = useScope();
  const asked = api.useQuery(
    "get",
    "/api/v1/blocking",
    { params: { query: { from, to, pageSize: listed, ...servers } } },
    { placeholderData: keepPreviousData },
  );
  return (
    <Few
      title="Blocking in this time"
      asked={asked}
      none="No sample shows a session that waited for another one."
      all={
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="/blocking" search={{ ...search, range: undefined, from, to }} {...props} />}
        >
          All blocking of this time
        </Anchor>
      }
    >
      {(asked.data?.items ?? []).map((e) => (
        <EpisodeLine key={e.id} episode={e} server />
      ))}
    </Few>
  );
}

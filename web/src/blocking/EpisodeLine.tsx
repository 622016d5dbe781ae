import { Anchor, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { duration } from "../ui/format";
import { Time } from "../ui/Time";
import { useScope } from "../window/scope";
import classes from "./blocking.module.css";
import { type Episode, stateOf, titleOf } from "./episode";

/** EpisodeLink leads to an episode, and says what the root did. */
export function EpisodeLink({ episode: e }: { episode: Episode }) {
  const { search } = useScope();
  const state = e.cycle.length > 0 ? "deadlock" : stateOf(e.root, e.peakAt);
  return (
    <>
      <Anchor
        component={Link}
        to="/blocking/$episodeId"
        params={{ episodeId: e.id } as never}
        search={search as never}
        size="sm"
        fw={550}
        className={classes.target}
      >
        <bdi>{titleOf(e)}</bdi>
      </Anchor>
      {state && (
        <Text size="xs" c="dimmed">
          {state}
        </Text>
      )}
    </>
  );
}

/** EpisodeLine is an episode in a list, with its server where that is not clear. */
export function EpisodeLine({ episode: e, server = false }: { episode: Episode; server?: boolean }) {
  return (
    <div className={classes.item} data-episode={e.id}>
      <div style={{ minWidth: 0 }}>
        <EpisodeLink episode={e} />
        {server && (
          <Text size="xs" c="dimmed">
            <bdi>{e.instance.name}</bdi>
          </Text>
        )}
      </div>
      <div className={e.to === null ? `${classes.when} ${classes.now}` : classes.when}>
        {e.to === null ? "going on, since " : ""}
        <Time at={e.from} exact={e.to === null} />
        {e.to !== null && `, ${duration(Date.parse(e.to) - Date.parse(e.from))}`}
      </div>
    </div>
  );
}

DELETE FROM blocking_episodes WHERE (organization_id, id) IN (
    SELECT organization_id, id FROM blocking_episodes WHERE greatest(last_at, ended_at) < now() - make_interval(secs => $1) LIMIT $2
)

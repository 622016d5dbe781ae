SELECT
    coalesce(sum(position) FILTER (WHERE consumer_group = $1), 0),
    coalesce(sum(position) FILTER (WHERE consumer_group <> $1), 0)
FROM checkpoints WHERE consumer_group = $1 OR consumer_group = (
    SELECT consumer_group FROM projection_generations WHERE projection = $2 AND version = $3 AND state = 'live')

-- How many of the projections that read the log have passed the position.
SELECT count(*)
FROM unnest($1::text[], $2::int[]) AS p (name, version)
JOIN projection_generations g ON g.projection = p.name AND g.version = p.version AND g.state = 'live'
JOIN checkpoints c ON c.consumer_group = g.consumer_group
WHERE c.log = $3 AND c.position >= $4

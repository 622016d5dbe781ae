-- The parts that have rows, but those of half hours that are written to now. And those that
-- somebody has analyzed when they were empty: the planner would have them read from end to
-- end when they are not. TRUNCATE takes that away.
SELECT part
FROM generate_series(0, 7) AS part
JOIN pg_class c ON c.oid = ('raw_samples_' || part)::regclass
WHERE CASE WHEN pg_relation_size(c.oid) = 0 THEN c.reltuples >= 0 ELSE NOT EXISTS (
    SELECT FROM generate_series(floor(extract(epoch FROM now() - $1::interval) / 1800)::bigint,
                                floor(extract(epoch FROM now() + interval '30 minutes') / 1800)::bigint) AS half
    WHERE half % 8 = part
) END

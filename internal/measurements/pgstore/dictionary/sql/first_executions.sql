-- How many statements of instances ($3, or of all where $2) were executed for the first time from $4 to $5, by database and
-- time: those that the server had not counted before it was watched for $6 seconds. Of an instance the newest $7.
SELECT m.subject::uuid AS instance, n.database_id AS database, n.first_seen AS at, count(*) AS statements
FROM measured_series m
CROSS JOIN LATERAL (
    SELECT s.database_id, s.first_seen
    FROM measured_statements s
    WHERE s.series_id = m.id AND s.first_seen >= $4 AND s.first_seen < $5 AND NOT s.own AND NOT s.ran_before
      AND s.first_seen >= m.watched_from + make_interval(secs => $6)
    ORDER BY s.first_seen DESC
    LIMIT $7
) n
WHERE m.organization_id = $1 AND m.kind = 'statements' AND ($2::boolean OR m.subject = ANY ($3::text[]))
GROUP BY m.subject, n.database_id, n.first_seen

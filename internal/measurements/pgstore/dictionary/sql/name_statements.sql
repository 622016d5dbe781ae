-- What is known of the statements of ids ($2).
SELECT m.subject::uuid AS instance, s.hash, m.engine, s.database_id AS database, s.key, coalesce(s.text, '') AS text,
    s.first_seen AS firstseen, s.last_seen AS lastseen, s.ran_before AS ranbefore, m.watched_from AS watchedfrom
FROM unnest($2::uuid[]) AS n (id)
JOIN measured_statements s ON s.id = n.id
JOIN measured_series m ON m.id = s.series_id AND m.organization_id = $1

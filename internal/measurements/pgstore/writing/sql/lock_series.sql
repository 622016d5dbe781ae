-- Holds the series of a batch until its transaction ends, in the order of their ids, in
-- which everybody who waits for a series does. The database's clock goes along, and
-- whether hours of the series could not be put into blocks for $4.
SELECT s.id AS series_id, s.organization_id, s.kind, s.subject, s.engine, s.watched_from, now() AS now,
    EXISTS (SELECT FROM series_away a WHERE a.series_id = s.id AND a.since < now() - $4::interval) AS full
FROM unnest($2::text[], $3::text[]) AS n (kind, subject)
JOIN measured_series s ON s.organization_id = $1 AND s.kind = n.kind AND s.subject = n.subject
ORDER BY s.id
FOR NO KEY UPDATE OF s

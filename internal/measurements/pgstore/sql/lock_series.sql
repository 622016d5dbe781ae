-- Holds the series of a batch until its transaction ends, in the order of their ids, in
-- which everybody who waits for a series does. The database's clock goes along.
SELECT s.id AS series_id, s.organization_id, s.kind, s.subject, s.engine, now() AS now
FROM unnest($2::text[], $3::text[]) AS n (kind, subject)
JOIN measured_series s ON s.organization_id = $1 AND s.kind = n.kind AND s.subject = n.subject
ORDER BY s.id
FOR NO KEY UPDATE OF s

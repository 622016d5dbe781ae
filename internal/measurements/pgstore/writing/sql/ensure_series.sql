-- Makes the series that are not there yet. In the order of their key, in which
-- everybody who makes the same ones waits for the other; nobody holds a row of the
-- table yet (lock_series.sql comes after it). Without the anti-join each sample would
-- use up a number.
INSERT INTO measured_series (organization_id, kind, subject, engine)
SELECT $1, n.kind, n.subject, n.engine
FROM unnest($2::text[], $3::text[], $4::text[]) AS n (kind, subject, engine)
WHERE NOT EXISTS (
    SELECT FROM measured_series s
    WHERE s.organization_id = $1 AND s.kind = n.kind AND s.subject = n.subject
)
ORDER BY n.kind, n.subject
ON CONFLICT (organization_id, kind, subject) DO NOTHING

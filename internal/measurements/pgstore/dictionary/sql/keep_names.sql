-- Notes names of an organization, in the order of their hashes, in which all lock these rows.
INSERT INTO measured_names AS n (organization_id, hash, dimension, name, last_seen)
SELECT $1, hash, dimension, name, seen
FROM unnest($2::bigint[], $3::text[], $4::text[], $5::timestamptz[]) AS a (hash, dimension, name, seen)
ON CONFLICT (organization_id, hash) DO UPDATE
SET last_seen = excluded.last_seen
WHERE n.last_seen < excluded.last_seen

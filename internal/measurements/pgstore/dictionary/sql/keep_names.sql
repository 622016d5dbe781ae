-- Notes names of an organization, in the order of their hashes, in which all lock these rows; new ones only while it has
-- fewer than $2.
INSERT INTO measured_names AS n (organization_id, hash, dimension, name, last_seen)
SELECT $1, hash, dimension, name, seen
FROM unnest($3::bigint[], $4::text[], $5::text[], $6::timestamptz[]) AS a (hash, dimension, name, seen)
WHERE (SELECT count(*) FROM (SELECT FROM measured_names WHERE organization_id = $1 LIMIT $2) AS c) < $2
   OR EXISTS (SELECT FROM measured_names k WHERE k.organization_id = $1 AND k.hash = a.hash)
ON CONFLICT (organization_id, hash) DO UPDATE
SET last_seen = excluded.last_seen
WHERE n.last_seen < excluded.last_seen

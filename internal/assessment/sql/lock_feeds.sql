-- Makes and locks the rows, in the order of their ids: two calls about the same
-- instances take turns, and none waits for the other.
INSERT INTO assessment_feeds AS f (organization_id, instance_id)
SELECT $1::uuid, id FROM unnest($2::uuid[]) WITH ORDINALITY AS i (id, n) ORDER BY n
ON CONFLICT (organization_id, instance_id) DO UPDATE SET last_assessed_at = f.last_assessed_at
RETURNING instance_id, last_assessed_at

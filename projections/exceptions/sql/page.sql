-- A page of exceptions, newest first, with their status at $2; and how many
-- match in all. $9 are the instances of which somebody sees exceptions, beside those
-- for all; NULL: the whole organization. Without a match on this page there is no row to say so.
WITH judged AS (
    SELECT id, organization_id, check_id, instance_id, database_id, object_ref, reason, until,
           requested_by, requested_at, decided_by, decided_at,
           CASE WHEN status = 'granted' AND until <= $2 THEN 'lapsed' ELSE status END AS status
    FROM exceptions_v1.exceptions
    WHERE organization_id = $1
)
SELECT *, count(*) OVER () AS total
FROM judged
WHERE (coalesce(cardinality($3::uuid[]), 0) = 0 OR id = ANY ($3))
  AND (coalesce(cardinality($4::text[]), 0) = 0 OR status = ANY ($4))
  AND (coalesce(cardinality($5::uuid[]), 0) = 0 OR instance_id = ANY ($5))
  AND (coalesce(cardinality($6::text[]), 0) = 0 OR check_id = ANY ($6))
  AND ($9::uuid[] IS NULL OR instance_id IS NULL OR instance_id = ANY ($9))
ORDER BY requested_at DESC, id DESC
LIMIT $7 OFFSET $8

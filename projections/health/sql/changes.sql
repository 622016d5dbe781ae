-- The newest changes of the kinds $4 from $5 to $6, on the instances $3 where $2 is true, else on all. Changes of one
-- assessment come one after the other.
SELECT instance_id, assessment_id, nth, at, kind, key, before_digest = '' AS added, after_digest = '' AS removed
FROM health_v1.changes
WHERE organization_id = $1 AND (NOT $2 OR instance_id = ANY ($3)) AND kind = ANY ($4::text[]) AND at >= $5 AND at < $6
ORDER BY at DESC, assessment_id, nth
LIMIT $7

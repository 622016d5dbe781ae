-- The findings of instances $2 of organization $1 that were there at some time from $3 until $4.
SELECT instance_id, check_id, database_name, object, severity, first_seen_at, gone_at, earlier_first_seen_at, earlier_gone_at
FROM findings
WHERE organization_id = $1 AND instance_id = ANY ($2::uuid[]) AND assessed
  AND (first_seen_at <= $4 AND (gone_at IS NULL OR gone_at > $3) OR earlier_first_seen_at <= $4 AND earlier_gone_at > $3)

-- The alerts of an organization that were open at some time from $3 until $4, of instances $2; null: of all, and those of none.
SELECT a.id FROM alerts_v5.alerts a
WHERE a.organization_id = $1 AND a.created_at < $4 AND (a.resolved_at IS NULL OR greatest(a.resolved_at, a.created_at) >= $3)
  AND ($2::uuid[] IS NULL OR a.instance_id = ANY ($2)
       OR a.other_instance_ids <> '' AND string_to_array(a.other_instance_ids, ',') && $2::text[])
ORDER BY a.id

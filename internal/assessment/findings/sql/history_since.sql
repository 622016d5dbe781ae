SELECT min(coalesce(earlier_first_seen_at, first_seen_at)) FROM findings WHERE organization_id = $1 AND instance_id = ANY ($2::uuid[])

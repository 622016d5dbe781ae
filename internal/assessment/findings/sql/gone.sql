-- By the primary key: of those ids alone.
SELECT id, coalesce(earlier_first_seen_at, first_seen_at) AS ever_first_seen_at, gone_at
FROM findings
WHERE organization_id = $1 AND id = ANY ($2::uuid[]) AND gone_at IS NOT NULL

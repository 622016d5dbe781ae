-- The newest of each person along security_log_by_member, and the newest of
-- those; see security_log_by_type.sql.
SELECT e.id, e.at, e.organization_id, e.member_id, e.type, e.ip, e.request_id, e.detail, e.component
FROM (SELECT DISTINCT unnest($7::uuid[]) AS member_id) AS wanted
CROSS JOIN LATERAL (
    SELECT *
    FROM security_log
    WHERE organization_id = $1 AND (member_id, at) >= (wanted.member_id, $2) AND (member_id, at) < (wanted.member_id, $3)
      AND (member_id, at, id) < (wanted.member_id, $4, $5)
      AND (coalesce(cardinality($8::text[]), 0) = 0 OR type = ANY ($8))
    ORDER BY member_id DESC, at DESC, id DESC
    LIMIT $6
) AS e
ORDER BY e.at DESC, e.id DESC
LIMIT $6

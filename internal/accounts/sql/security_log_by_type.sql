-- The newest of each type along security_log_by_type, and the newest of those.
-- One row comparison holds type, time and place, for that index alone has them in
-- this order: with "type =" the planner walked the whole log where the statistics
-- know one type only (355 ms of a million entries, for a page of nothing).
SELECT e.id, e.at, e.organization_id, e.member_id, e.type, e.ip, e.request_id, e.detail, e.component
FROM (SELECT DISTINCT unnest($7::text[]) AS type) AS wanted
CROSS JOIN LATERAL (
    SELECT *
    FROM security_log
    WHERE organization_id = $1 AND (type, at) >= (wanted.type, $2) AND (type, at) < (wanted.type, $3)
      AND (type, at, id) < (wanted.type, $4, $5)
    ORDER BY type DESC, at DESC, id DESC
    LIMIT $6
) AS e
ORDER BY e.at DESC, e.id DESC
LIMIT $6

-- A page of some kinds and statuses as of $3. Ready and Expired both look at stored
-- Ready rows, on either side of the clock; the overdue ones are few, because the
-- sweeper expires them, and are found by their own index. BETWEEN and the order
-- by status leave the planner only the index by status: with = it walks the
-- whole listing for a status that its statistics do not know to be rare.
WITH plain AS (
    SELECT p.id, p.created_at
    FROM unnest($2::text[]) AS k (kind)
    CROSS JOIN unnest($4::text[]) AS s (status)
    CROSS JOIN LATERAL (
        SELECT i.id, i.created_at
        FROM report_history_v2.reports i
        WHERE i.organization_id = $1 AND i.kind = k.kind AND i.status BETWEEN s.status AND s.status
          AND (i.status <> 'Ready' OR i.expires_at > $3)
        ORDER BY i.status, i.created_at DESC, i.id DESC
        LIMIT $6::bigint + $7::bigint
    ) p
), overdue AS MATERIALIZED (
    SELECT i.id, i.created_at
    FROM report_history_v2.reports i
    WHERE $5::boolean AND i.organization_id = $1 AND i.kind = ANY ($2) AND i.status = 'Ready' AND i.expires_at <= $3
), chosen AS MATERIALIZED (
    SELECT id, created_at FROM plain
    UNION ALL
    SELECT id, created_at FROM overdue
    ORDER BY created_at DESC, id DESC
    LIMIT $6::bigint OFFSET $7::bigint
)
SELECT {{columns}}
FROM chosen
JOIN report_history_v2.reports r ON r.id = chosen.id
ORDER BY chosen.created_at DESC, chosen.id DESC

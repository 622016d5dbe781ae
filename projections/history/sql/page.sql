-- A page of some kinds: each gives, off its own index and in order, as many as there
-- can be on the pages so far.
WITH chosen AS MATERIALIZED (
    SELECT p.id, p.created_at
    FROM unnest($2::text[]) AS k (kind)
    CROSS JOIN LATERAL (
        SELECT i.id, i.created_at
        FROM report_history_v2.reports i
        WHERE i.organization_id = $1 AND i.kind = k.kind
        ORDER BY i.created_at DESC, i.id DESC
        LIMIT $3::bigint + $4::bigint
    ) p
    ORDER BY p.created_at DESC, p.id DESC
    LIMIT $3::bigint OFFSET $4::bigint
)
SELECT {{columns}}
FROM chosen
JOIN report_history_v2.reports r ON r.id = chosen.id
ORDER BY chosen.created_at DESC, chosen.id DESC

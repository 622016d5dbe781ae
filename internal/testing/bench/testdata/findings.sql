SELECT id, check_id, object, evidence, severity, first_seen_at, last_seen_at FROM (
    SELECT *, count(*) OVER () AS total FROM findings WHERE organization_id = $1 AND gone_at IS NULL
) f
ORDER BY severity, id LIMIT 20

-- The reports whose build ended from $2 until $3, with how many of their mails had failed by then.
SELECT r.kind, r.status, r.scope_label,
       (SELECT count(*)::int FROM report_history_v2.recipients m
        WHERE m.report_id = r.id AND m.organization_id = r.organization_id AND m.delivery = 'failed' AND m.delivered_at < $3) AS mails
FROM report_history_v2.reports r
WHERE r.organization_id = $1 AND r.finished_at >= $2 AND r.finished_at < $3
ORDER BY r.finished_at, r.id

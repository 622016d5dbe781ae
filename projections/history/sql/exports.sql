SELECT {{columns}}
FROM report_history_v2.recipients t
JOIN report_history_v2.reports r ON r.id = t.report_id AND r.organization_id = t.organization_id
WHERE t.organization_id = $1 AND t.member_id = $2
  AND t.status IN ('Queued', 'Building', 'Ready') AND (t.status <> 'Ready' OR t.expires_at > $3)
  AND ($4::uuid IS NULL OR (t.created_at, t.report_id) < (
      SELECT b.created_at, b.id FROM report_history_v2.reports b WHERE b.organization_id = $1 AND b.id = $4))
  AND ($6::jsonb IS NULL OR r.scope -> 'instanceIds' <> '[]' AND r.scope -> 'instanceIds' <@ $6)
ORDER BY t.created_at DESC, t.report_id DESC
LIMIT $5

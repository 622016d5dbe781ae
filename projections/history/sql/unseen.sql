SELECT count(*)
FROM report_history_v2.recipients t
LEFT JOIN export_marks m ON m.organization_id = t.organization_id AND m.member_id = t.member_id
WHERE t.organization_id = $1 AND t.member_id = $2
  AND t.status IN ('Queued', 'Building', 'Ready') AND t.status = 'Ready' AND t.expires_at > $3
  AND (m.report_id IS NULL
       OR (t.created_at, t.report_id) > (m.created_at, m.report_id)
       OR t.ready_position > m.ready_position)
  AND ($4::jsonb IS NULL OR EXISTS (
      SELECT FROM report_history_v2.reports r
      WHERE r.id = t.report_id AND r.scope -> 'instanceIds' <> '[]' AND r.scope -> 'instanceIds' <@ $4))

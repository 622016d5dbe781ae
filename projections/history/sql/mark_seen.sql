-- ready_position is how far the tray had come: a report that was asked for
-- before the mark and became Ready after it is new to the member.
INSERT INTO export_marks AS m (organization_id, member_id, report_id, created_at, ready_position)
SELECT r.organization_id, $2, r.id, r.created_at, coalesce((
    SELECT max(t.ready_position) FROM report_history_v2.recipients t
    WHERE t.organization_id = $1 AND t.member_id = $2 AND t.status IN ('Queued', 'Building', 'Ready')), 0)
FROM report_history_v2.reports r
WHERE r.organization_id = $1 AND r.id = $3
ON CONFLICT (organization_id, member_id) DO UPDATE SET
    report_id = CASE WHEN (excluded.created_at, excluded.report_id) > (m.created_at, m.report_id)
                     THEN excluded.report_id ELSE m.report_id END,
    created_at = greatest(excluded.created_at, m.created_at),
    ready_position = CASE WHEN (excluded.created_at, excluded.report_id) >= (m.created_at, m.report_id)
                          THEN excluded.ready_position ELSE m.ready_position END

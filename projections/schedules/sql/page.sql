-- A page of schedules by name, each with its last run; and how many there are in all.
-- Without a row on this page there is none to say so. With $4, that one only.
SELECT s.id, s.organization_id, s.owner_id, s.terms, s.due_from, s.created_at,
       r.due_at AS run_due_at, r.status AS run_status, r.report_id AS run_report_id, r.reason AS run_reason, r.at AS run_at,
       count(*) OVER () AS total
FROM schedules_v1.schedules s
LEFT JOIN LATERAL (
    SELECT due_at, status, report_id, reason, at FROM schedules_v1.runs
    WHERE schedule_id = s.id ORDER BY due_at DESC LIMIT 1
) r ON true
WHERE s.organization_id = $1 AND ($4::uuid IS NULL OR s.id = $4)
ORDER BY lower(s.name), s.id
LIMIT $2 OFFSET $3

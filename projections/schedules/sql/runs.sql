SELECT due_at, status, report_id, reason, at, count(*) OVER () AS total
FROM schedules_v1.runs
WHERE organization_id = $1 AND schedule_id = $2
ORDER BY due_at DESC
LIMIT $3 OFFSET $4

-- Of every organization: a chore of the installation. A time stamp of more than a day
-- later would say that the report's own time is not true (attest.Skew).
SELECT p.organization_id, p.report_id
FROM report_proofs p
LEFT JOIN log_checkpoints c ON c.log = 'reports' AND c.size = p.size
WHERE p.made_at > clock_timestamp() - interval '23 hours'
  AND (p.timestamp_token IS NULL OR c.size IS NOT NULL AND c.timestamp_token IS NULL)
ORDER BY p.made_at
LIMIT $1

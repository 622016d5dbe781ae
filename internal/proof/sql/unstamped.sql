-- Of every organization: a chore of the installation. Proofs that are older than $2 are left out: a
-- time stamp later than attest.Skew would say that the report's own time is not true.
SELECT p.organization_id, p.report_id
FROM report_proofs p
LEFT JOIN log_checkpoints c ON c.log = 'reports' AND c.size = p.size
WHERE p.made_at > clock_timestamp() - $2::interval
  AND (p.timestamp_token IS NULL OR c.size IS NOT NULL AND c.timestamp_token IS NULL)
ORDER BY p.made_at
LIMIT $1

-- Of every organization: a chore of the installation.
SELECT p.organization_id, p.report_id
FROM report_proofs p
LEFT JOIN log_checkpoints c ON c.log = 'reports' AND c.size = p.size
WHERE p.timestamp_token IS NULL OR c.size IS NOT NULL AND c.timestamp_token IS NULL
ORDER BY p.made_at
LIMIT $1

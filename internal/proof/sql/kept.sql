SELECT p.proof, p.timestamp_token, p.signed_sha256, c.note, c.timestamp_token AS checkpoint_token
FROM report_proofs p
LEFT JOIN log_checkpoints c ON c.log = 'reports' AND c.size = p.size
WHERE p.organization_id = $1 AND p.report_id = $2

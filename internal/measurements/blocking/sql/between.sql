SELECT at, waiting, seconds, root, ended_by
FROM blocking_samples
WHERE organization_id = $1 AND instance_id = $2 AND advisory = $3 AND at BETWEEN $4 AND $5
ORDER BY at

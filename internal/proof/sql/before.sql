-- At most two sizes. All proofs are of reports.
SELECT max(size) AS size FROM report_proofs WHERE organization_id = $1 AND size BETWEEN 1 AND $3 - 1 AND $2 = 'reports' HAVING max(size) IS NOT NULL
UNION
SELECT max(size) FROM log_checkpoints WHERE log = $2 AND size BETWEEN 1 AND $3 - 1 HAVING max(size) IS NOT NULL
ORDER BY size

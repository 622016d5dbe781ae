-- How many reports of some kinds there are by kind and status, and how many Ready ones are overdue as of $3.
SELECT status, reports,
       CASE WHEN status = 'Ready' THEN (
           SELECT count(*) FROM report_history_v2.reports r
           WHERE r.organization_id = $1 AND r.kind = counts.kind AND r.status = 'Ready' AND r.expires_at <= $3
       ) ELSE 0 END AS overdue
FROM report_history_v2.counts
WHERE organization_id = $1 AND kind = ANY ($2)

-- How many reports of a kind there are by status, and how many Ready ones are overdue as of $3.
SELECT status, reports,
       CASE WHEN status = 'Ready' THEN (
           SELECT count(*) FROM report_history_v1.reports
           WHERE organization_id = $1 AND kind = $2 AND status = 'Ready' AND expires_at <= $3
       ) ELSE 0 END
FROM report_history_v1.counts
WHERE organization_id = $1 AND kind = $2

-- What is open now; of that and of what was closed since, what was there then.
SELECT open.now AS now, open.before + closed.before AS before
FROM (SELECT count(*) AS now, count(*) FILTER (WHERE created_at <= $2) AS before
      FROM alerts_v1.alerts
      WHERE organization_id = $1 AND resolved_at IS NULL AND NOT muted) open,
     (SELECT count(*) AS before
      FROM alerts_v1.alerts
      WHERE organization_id = $1 AND resolved_at > $2 AND created_at <= $2 AND NOT muted) closed

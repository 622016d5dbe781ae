-- What is open now; of that and of what was closed since, what was there then.
SELECT open.now AS now, open.before + closed.before AS before
FROM (SELECT count(*) AS now, count(*) FILTER (WHERE a.created_at <= $2) AS before
      FROM alerts_v5.alerts a
      WHERE {{scope}} AND a.resolved_at IS NULL AND NOT a.muted) open,
     (SELECT count(*) AS before
      FROM alerts_v5.alerts a
      WHERE {{scope}} AND a.resolved_at > $2 AND a.created_at <= $2 AND NOT a.muted) closed

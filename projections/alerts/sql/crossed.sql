(SELECT count(*)
 FROM alerts_v5.alerts a
 JOIN alert_last_seen s ON {{seen later}}
 WHERE {{scope}} AND a.last_triggered_at < {{bound}} AND s.last_triggered_at >= {{bound}}{{filter}})

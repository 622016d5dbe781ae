-- As connections.sql, database by database.
SELECT s.subject::uuid AS instance, l.database_id AS database, l.active, l.idle, l.waiting, l.idle_in_transaction AS idleintransaction, l.other, l.partial
FROM measured_series s
JOIN latest_sessions l ON l.series_id = s.id
WHERE s.organization_id = $1 AND s.kind = 'sessions' AND s.engine = $2 AND l.until >= $4
  AND (l.database_id IN (SELECT unnest($3::uuid[]))) IS TRUE

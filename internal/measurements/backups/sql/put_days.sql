-- The minutes in which backups of server $2 in organization $1 ended, each once.
INSERT INTO backup_days (organization_id, instance_id, database_id, whole, day, minutes)
SELECT $1, $2, b.database_id, b.whole, b.day, array_agg(DISTINCT b.minute ORDER BY b.minute)
FROM unnest($3::uuid[], $4::boolean[], $5::date[], $6::smallint[]) AS b (database_id, whole, day, minute)
GROUP BY b.database_id, b.whole, b.day
ORDER BY b.database_id, b.whole, b.day -- one order in which everybody locks rows
ON CONFLICT (organization_id, instance_id, database_id, whole, day) DO UPDATE SET
    minutes = (SELECT array_agg(DISTINCT m ORDER BY m) FROM unnest(backup_days.minutes || excluded.minutes) AS m)
WHERE NOT backup_days.minutes @> excluded.minutes

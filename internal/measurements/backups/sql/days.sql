-- The minutes in which backups ended, from day $4 to day $5, both included: of organization $1, of the instances $3
-- where $2 is true, else of all.
SELECT instance_id, database_id, whole, day, to_json(minutes) AS minutes FROM backup_days
WHERE organization_id = $1 AND (NOT $2 OR instance_id = ANY ($3)) AND day BETWEEN $4 AND $5
ORDER BY instance_id, database_id, whole, day

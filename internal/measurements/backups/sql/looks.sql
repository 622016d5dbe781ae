-- What the sources of servers said last: of organization $1, of the instances $3 where $2 is true, else of all.
SELECT instance_id, source, at, state FROM backup_looks
WHERE organization_id = $1 AND (NOT $2 OR instance_id = ANY ($3))
ORDER BY instance_id, source

-- As count_organization.sql, of these instances and what is on them.
SELECT i.now AS instances, i.before AS instances_then, d.now AS databases, d.before AS databases_then
FROM (SELECT count(*) AS now, count(*) FILTER (WHERE created_at <= $2) AS before
      FROM fleet_v3.instances WHERE organization_id = $1 AND id = ANY ($3)) i,
     (SELECT count(*) AS now, count(*) FILTER (WHERE created_at <= $2) AS before
      FROM fleet_v3.databases WHERE organization_id = $1 AND instance_id = ANY ($3)) d

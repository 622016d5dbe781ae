-- A page of instances that match (as count_instances.sql). An engine is written
-- without spaces ("sqlserver"), and people search for SQL Server. Names sort without
-- regard to case, and the same on every machine.
WITH matching AS (
    SELECT *
    FROM fleet_v3.instances
    WHERE organization_id = $1
      AND (coalesce(cardinality($2::uuid[]), 0) = 0 OR id = ANY ($2))
      AND (coalesce(cardinality($3::text[]), 0) = 0 OR engine = ANY ($3))
      AND ($4::boolean IS NULL OR active = $4)
      AND ($5 = '' OR position(lower($5) IN lower(name)) > 0
                   OR position(lower($5) IN lower(host)) > 0
                   OR position(lower($5) IN lower(external_id)) > 0
                   OR position(lower($5) IN lower(version)) > 0
                   OR position(lower(replace($5, ' ', '')) IN engine) > 0)
      AND {{tags}}
)
SELECT i.id, i.organization_id, i.external_id, i.name, i.engine, i.version, i.host, i.active, i.created_at, i.tags,
       (SELECT count(*) FROM fleet_v3.databases d
        WHERE d.instance_id = i.id AND d.organization_id = i.organization_id) AS database_count
FROM (
    SELECT * FROM matching
    ORDER BY CASE WHEN NOT $6 THEN lower(name) END COLLATE "C", CASE WHEN NOT $6 THEN id END,
             CASE WHEN $6 THEN lower(name) END COLLATE "C" DESC, CASE WHEN $6 THEN id END DESC
    LIMIT $7 OFFSET $8
) i
ORDER BY CASE WHEN NOT $6 THEN lower(i.name) END COLLATE "C", CASE WHEN NOT $6 THEN i.id END,
         CASE WHEN $6 THEN lower(i.name) END COLLATE "C" DESC, CASE WHEN $6 THEN i.id END DESC

-- An exception that names an instance is one look into an index; one that names none
-- is a look at all findings of its check.
WITH x AS MATERIALIZED (
    SELECT * FROM unnest({{exceptions}}) AS x (check_id, instance_id, database_name, object)
), covered AS MATERIALIZED (
    SELECT f.id
    FROM x
    JOIN findings f ON f.organization_id = {{organization}} AND f.gone_at IS NULL AND f.check_id = x.check_id AND f.instance_id = x.instance_id
    WHERE f.assessed AND (x.database_name IS NULL OR x.database_name = f.database_name) AND (x.object = '' OR x.object = f.object)
    UNION ALL
    SELECT f.id
    FROM x
    JOIN findings f ON f.organization_id = {{organization}} AND f.gone_at IS NULL AND f.check_id = x.check_id
    WHERE x.instance_id IS NULL AND x.database_name IS NULL AND f.assessed AND (x.object = '' OR x.object = f.object)
)

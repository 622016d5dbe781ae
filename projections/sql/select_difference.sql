-- Rows of two generations of one table that are not the same, by primary key.
WITH differing AS MATERIALIZED (
    SELECT o.{{first}} IS NULL AS only_new, n.{{first}} IS NULL AS only_old,
           CASE WHEN o.{{first}} IS NOT NULL THEN to_jsonb(o) END AS old_row,
           CASE WHEN n.{{first}} IS NOT NULL THEN to_jsonb(n) END AS new_row
    FROM {{old}} o
    FULL JOIN {{new}} n ON {{join}}
    WHERE ROW(o.*) IS DISTINCT FROM ROW(n.*)
), samples AS (
    (SELECT * FROM differing WHERE only_old LIMIT $1)
    UNION ALL
    (SELECT * FROM differing WHERE only_new LIMIT $1)
    UNION ALL
    (SELECT * FROM differing WHERE NOT only_old AND NOT only_new LIMIT $1)
)
SELECT (SELECT count(*) FROM {{new}}),
       (SELECT count(*) FROM differing WHERE only_old),
       (SELECT count(*) FROM differing WHERE only_new),
       (SELECT count(*) FROM differing WHERE NOT only_old AND NOT only_new),
       (SELECT coalesce(jsonb_agg(jsonb_build_object('old', old_row, 'new', new_row)), '[]') FROM samples)

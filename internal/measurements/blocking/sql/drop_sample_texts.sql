-- Statements of an organization's samples. What a worker of autovacuum says that it does is no statement.
UPDATE blocking_samples SET root = CASE WHEN root #>> '{root,kind}' = 'autovacuum' THEN root ELSE root #- '{root,statement}' END, tree = jsonb_set(tree, '{nodes}', (
    SELECT jsonb_agg(CASE WHEN node ->> 'kind' = 'autovacuum' THEN node ELSE node - 'statement' END ORDER BY place)
    FROM jsonb_array_elements(tree -> 'nodes') WITH ORDINALITY AS of (node, place)
))
WHERE organization_id = $1 AND root IS NOT NULL

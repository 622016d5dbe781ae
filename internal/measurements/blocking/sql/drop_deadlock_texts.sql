-- Statements of an organization's deadlocks.
UPDATE blocking_deadlocks SET tree = jsonb_set(tree, '{nodes}', (
    SELECT jsonb_agg(node - 'statement' ORDER BY place) FROM jsonb_array_elements(tree -> 'nodes') WITH ORDINALITY AS of (node, place)
))
WHERE organization_id = $1 AND tree IS NOT NULL

-- Users, applications and clients of an organization's samples.
UPDATE blocking_samples SET root = root #- '{root,user}' #- '{root,application}' #- '{root,client}', tree = jsonb_set(tree, '{nodes}', (
    SELECT jsonb_agg(node - 'user' - 'application' - 'client' ORDER BY place)
    FROM jsonb_array_elements(tree -> 'nodes') WITH ORDINALITY AS of (node, place)
))
WHERE organization_id = $1 AND root IS NOT NULL

UPDATE blocking_episodes SET root = root #- '{root,statement}'
WHERE organization_id = $1 AND root #> '{root,statement}' IS NOT NULL AND root #>> '{root,kind}' <> 'autovacuum'

FROM findings f
WHERE f.organization_id = {{organization}} AND f.gone_at IS NULL
  AND {{conditions}}

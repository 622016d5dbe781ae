-- The alerts that concern servers of a scope ($2) although their own server is not among them.
SELECT a.id
FROM alerts_v5.alerts a
WHERE a.organization_id = $1 AND a.other_instance_ids <> '' AND string_to_array(a.other_instance_ids, ',') && $2::uuid[]::text[]
  AND (a.instance_id IS NULL OR a.instance_id <> ALL ($2::uuid[]))

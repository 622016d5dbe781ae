-- The alerts that concern servers of a scope ($2) although their own server is not among them. The planner does
-- not see the scope: it took longer to plan the statement anew for each scope than to read it.
SELECT a.id
FROM alerts_v5.alerts a
WHERE a.organization_id = $1 AND a.other_instance_ids <> '' AND string_to_array(a.other_instance_ids, ',') && (SELECT $2::uuid[])::text[]
  AND (a.instance_id IS NULL OR a.instance_id <> ALL ((SELECT $2::uuid[])::uuid[]))

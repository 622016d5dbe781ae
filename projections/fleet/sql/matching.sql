-- The instances that one of the selectors ($2) matches: those that it names, and those with one of
-- the values of each of its keys.
SELECT id, tags FROM fleet_v3.instances
WHERE organization_id = $1 AND EXISTS (
    SELECT FROM jsonb_array_elements($2::jsonb) AS selector
    WHERE selector -> 'instanceIds' ? id::text
       OR selector -> 'tags' <> '{}' AND NOT EXISTS (
           SELECT FROM jsonb_each(selector -> 'tags') AS wanted (key, of)
           WHERE (wanted.of ? (tags -> wanted.key ->> 'value')) IS NOT TRUE))
ORDER BY id

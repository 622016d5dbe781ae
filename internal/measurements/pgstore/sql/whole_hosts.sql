-- Which hosts have a sample in rows ($2, $3), by their place in the lists.
SELECT n.place - 1 AS place, w.hosts
FROM unnest($2::text[], $3::timestamptz[]) WITH ORDINALITY AS n (width, start, place)
JOIN whole_rows w ON w.organization_id = $1 AND w.kind = 'host' AND w.engine = '' AND w.width = n.width AND w.start = n.start
ORDER BY n.place

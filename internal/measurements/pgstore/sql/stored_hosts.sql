-- What is stored of hosts ($3) at times ($4), by the place in these lists.
SELECT n.place - 1 AS place, r.body
FROM unnest($3::text[], $4::timestamptz[]) WITH ORDINALITY AS n (subject, at, place)
JOIN measured_series s ON s.organization_id = $1 AND s.kind = $2 AND s.subject = n.subject
JOIN raw_samples r ON r.series_id = s.id AND r.at = n.at

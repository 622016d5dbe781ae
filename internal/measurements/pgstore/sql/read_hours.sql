-- As read_minutes.sql.
SELECT n.id, r.start, r.slots
FROM unnest($1::bigint[]) AS n (id)
CROSS JOIN LATERAL (
    SELECT start, CASE WHEN $4::boolean THEN substring(slots FROM 3 FOR get_byte(slots, 0) * 256 + get_byte(slots, 1)) ELSE slots END AS slots
    FROM rolled_hours
    WHERE series_id = n.id AND start >= $2 AND start < $3
    ORDER BY start
) AS r

-- One statement, hence one snapshot: an append in between cannot come between the two.
SELECT h.position, h.hash, coalesce(e.position, 0), coalesce(e.hash, decode(repeat('00', 32), 'hex'))
FROM log_head h
LEFT JOIN LATERAL (
    SELECT e.position, e.hash FROM events e WHERE e.log = h.log ORDER BY e.position DESC LIMIT 1
) e ON true
WHERE h.log = $1

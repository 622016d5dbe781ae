-- One statement, hence one snapshot: an append in between cannot come between the two.
SELECT h.position, h.hash,
       coalesce((SELECT e.position FROM events e WHERE e.log = h.log ORDER BY e.position DESC LIMIT 1), 0)
FROM log_head h
WHERE h.log = $1

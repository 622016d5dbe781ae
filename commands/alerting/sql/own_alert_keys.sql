-- What begins with a plain key ($3) and the mark behind it ($4), a range of the index each:
-- without a limit all keys may be read for each of them, 28 s for 5,000 of 10,000.
SELECT k.key
FROM unnest($3::text[]) AS asked (plain)
CROSS JOIN LATERAL (
    SELECT k.key FROM stream_keys k
    WHERE k.organization_id = $1 AND k.stream_type = $2
        AND k.key >= (asked.plain || $4::text) COLLATE "C" AND k.key < (asked.plain || chr(ascii($4::text) + 1)) COLLATE "C"
    ORDER BY k.key LIMIT 10000
) k

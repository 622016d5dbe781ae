-- Writes what closed details have become, and deletes the open ones that are in them.
WITH joined AS (
    SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::bytea[], $4::text[]) AS n (series_id, start, body, size)
), kept AS (
    UPDATE rolled_details d SET body = j.body
    FROM joined j
    WHERE d.series_id = j.series_id AND d.size = j.size AND d.start = j.start AND d.closed
)
DELETE FROM rolled_details d
USING joined j
WHERE d.series_id = j.series_id AND d.size = j.size AND d.start = j.start AND NOT d.closed

-- Keeps the rests of weeks ($3) and days ($6), whose details are closed now.
WITH weeks AS (
    UPDATE rolled_days r SET slots = n.slots
    FROM unnest($1::bigint[], $2::timestamptz[], $3::bytea[]) AS n (series_id, start, slots)
    WHERE r.series_id = n.series_id AND r.start = n.start
)
UPDATE rolled_hours r SET slots = n.slots
FROM unnest($4::bigint[], $5::timestamptz[], $6::bytea[]) AS n (series_id, start, slots)
WHERE r.series_id = n.series_id AND r.start = n.start

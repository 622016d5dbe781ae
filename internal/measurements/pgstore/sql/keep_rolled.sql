-- Writes everything that a group of hours was rolled up to, and takes the marks away:
-- nobody could have set one meanwhile, the series are ours.
WITH minutes AS (
    INSERT INTO rolled_minutes (series_id, start, slots)
    SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::bytea[])
    ON CONFLICT (series_id, start) DO UPDATE SET slots = excluded.slots
), hours AS (
    INSERT INTO rolled_hours (series_id, start, slots)
    SELECT * FROM unnest($4::bigint[], $5::timestamptz[], $6::bytea[])
    ON CONFLICT (series_id, start) DO UPDATE SET slots = excluded.slots
), days AS (
    INSERT INTO rolled_days (series_id, start, slots)
    SELECT * FROM unnest($7::bigint[], $8::timestamptz[], $9::bytea[])
    ON CONFLICT (series_id, start) DO UPDATE SET slots = excluded.slots
), details AS (
    INSERT INTO rolled_details (series_id, start, body, size)
    SELECT * FROM unnest($10::bigint[], $11::timestamptz[], $12::bytea[], $13::text[])
    ON CONFLICT (series_id, size, start, closed) DO UPDATE SET body = excluded.body
)
DELETE FROM dirty_hours d
USING unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, hour)
WHERE d.series_id = n.series_id AND d.hour = n.hour

-- Writes everything that a group of hours was rolled up to into the head, and takes the
-- marks away: nobody could have set one meanwhile, the series are ours.
WITH minutes AS (
    INSERT INTO head_minutes (series_id, start, body)
    SELECT * FROM unnest($1::bigint[], $2::timestamptz[], $3::bytea[])
    ON CONFLICT (series_id, start) DO UPDATE SET body = excluded.body
), hours AS (
    INSERT INTO head_hours (series_id, start, body)
    SELECT * FROM unnest($4::bigint[], $5::timestamptz[], $6::bytea[])
    ON CONFLICT (series_id, start) DO UPDATE SET body = excluded.body
), days AS (
    INSERT INTO head_days (series_id, start, body)
    SELECT * FROM unnest($7::bigint[], $8::timestamptz[], $9::bytea[])
    ON CONFLICT (series_id, start) DO UPDATE SET body = excluded.body
), hour_details AS (
    INSERT INTO head_hour_details (series_id, start, body)
    SELECT * FROM unnest($10::bigint[], $11::timestamptz[], $12::bytea[])
    ON CONFLICT (series_id, start) DO UPDATE SET body = excluded.body
), day_details AS (
    INSERT INTO head_day_details (series_id, start, body)
    SELECT * FROM unnest($13::bigint[], $14::timestamptz[], $15::bytea[])
    ON CONFLICT (series_id, start) DO UPDATE SET body = excluded.body
), rests AS (
    INSERT INTO head_rests (series_id, start, body, size)
    SELECT * FROM unnest($16::bigint[], $17::timestamptz[], $18::bytea[], $19::text[])
    ON CONFLICT (series_id, size, start) DO UPDATE SET body = excluded.body
)
DELETE FROM dirty_hours d
USING unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, hour)
WHERE d.series_id = n.series_id AND d.hour = n.hour

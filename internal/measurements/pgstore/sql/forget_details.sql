-- Keeps the rests of weeks ($3) and days ($6), and forgets the details of the weeks.
WITH weeks AS (
    UPDATE rolled_days r SET slots = n.slots
    FROM unnest($1::bigint[], $2::timestamptz[], $3::bytea[]) AS n (series_id, start, slots)
    WHERE r.series_id = n.series_id AND r.start = n.start
), days AS (
    UPDATE rolled_hours r SET slots = n.slots
    FROM unnest($4::bigint[], $5::timestamptz[], $6::bytea[]) AS n (series_id, start, slots)
    WHERE r.series_id = n.series_id AND r.start = n.start
)
DELETE FROM rolled_statements s
USING unnest($1::bigint[], $2::timestamptz[]) AS n (series_id, week)
WHERE s.series_id = n.series_id AND s.size IN ('1h', '1d')
  AND s.start >= n.week AND s.start < n.week + interval '7 days'

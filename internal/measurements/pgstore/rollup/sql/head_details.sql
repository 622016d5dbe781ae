-- What the head has of the details that days and weeks are made of: of the hours of a day
-- ($2: 1h), of the days of a week (1d), and what those come to that it does not have.
SELECT n.series_id, n.size, d.start, d.body, d.rest
FROM unnest($1::bigint[], $2::text[], $3::timestamptz[], $4::timestamptz[]) AS n (series_id, size, since, until)
CROSS JOIN LATERAL (
    SELECT start, body, false AS rest FROM head_hour_details
    WHERE n.size = '1h' AND series_id = n.series_id AND start >= n.since AND start < n.until
    UNION ALL
    SELECT start, body, false FROM head_day_details
    WHERE n.size = '1d' AND series_id = n.series_id AND start >= n.since AND start < n.until
    UNION ALL
    SELECT start, body, true FROM head_rests
    WHERE series_id = n.series_id AND size = n.size AND start = n.since
) AS d

-- Which of these hours are sealed ($4: the number of the hour in its week).
SELECT n.series_id, n.hour AS start
FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[], $4::integer[]) AS n (series_id, hour, week, number)
JOIN sealed_hours h ON h.series_id = n.series_id AND h.week = n.week
WHERE get_bit(h.hours, n.number) = 1

-- Which of these hours are sealed ($3: the number of the hour in its week), by their
-- places in the arrays.
SELECT n.place - 1
FROM unnest($1::bigint[], $2::timestamptz[], $3::integer[]) WITH ORDINALITY AS n (series_id, week, number, place)
JOIN sealed_hours h ON h.series_id = n.series_id AND h.week = n.week
WHERE get_bit(h.hours, n.number) = 1

-- Seals hours ($4: the number of the hour in its week) of which nothing has arrived for $5, now that their series are
-- ours: those which still are as they were found.
WITH quiet AS (
    DELETE FROM measured_hours h
    USING unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[], $4::integer[]) AS n (series_id, hour, week, number)
    WHERE h.series_id = n.series_id AND h.hour = n.hour AND h.arrived_at < now() - $5::interval AND h.compacted
      AND NOT EXISTS (SELECT FROM dirty_hours d WHERE d.series_id = h.series_id AND d.hour = h.hour)
    RETURNING h.series_id, h.hour, n.week, n.number
), bits AS (
    INSERT INTO sealed_hours AS s (series_id, week, hours)
    SELECT series_id, week, bit_or(set_bit(repeat('0', 168)::bit(168), number, 1))
    FROM quiet
    GROUP BY series_id, week
    ON CONFLICT (series_id, week) DO UPDATE SET hours = s.hours | excluded.hours
)
SELECT series_id, hour AS start FROM quiet

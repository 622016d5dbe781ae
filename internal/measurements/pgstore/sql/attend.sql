-- Notes that samples can be sent now, and returns whether that is so again after more
-- than an hour, or for the first time. By the database's clock; where that was ahead
-- when it came back, it is as if it came now. The minute is for replicas that wait for
-- each other here. Where samples are refused because their hours wait for blocks for a day,
-- nothing is noted: those come late, as after an absence.
INSERT INTO intake_presence AS p (seen_at, back_at)
SELECT now(), now() WHERE NOT EXISTS (SELECT FROM series_away WHERE since < now() - interval '24 hours')
ON CONFLICT (one) DO UPDATE
SET seen_at = excluded.seen_at,
    back_at = CASE WHEN p.seen_at < now() - interval '1 hour' OR p.back_at > now() + interval '1 minute' THEN now() ELSE p.back_at END
RETURNING back_at = now()

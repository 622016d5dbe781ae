-- Notes that samples can be sent now, and returns how that came about:
--
--   here     they could be a moment ago, too
--   first    nobody ever noted it: a new installation, or a program from before this table
--   away     for the first time after more than $2
--   clock    the database's clock was ahead when it was noted last
--
-- All but the first are as if it came back now. By the database's clock. The minute is for
-- replicas that wait for each other here. Where samples are refused because their hours wait
-- for blocks for $1, nothing is noted: those come late, as after an absence.
WITH before AS (SELECT seen_at FROM intake_presence)
INSERT INTO intake_presence AS p (seen_at, back_at)
SELECT now(), now() WHERE NOT EXISTS (SELECT FROM series_away WHERE since < now() - $1::interval)
ON CONFLICT (one) DO UPDATE
SET seen_at = excluded.seen_at,
    back_at = CASE WHEN p.seen_at < now() - $2::interval OR p.back_at > now() + interval '1 minute' THEN now() ELSE p.back_at END
RETURNING CASE
    WHEN back_at <> now() THEN 'here'
    WHEN NOT EXISTS (SELECT FROM before) THEN 'first'
    WHEN EXISTS (SELECT FROM before WHERE seen_at < now() - $2::interval) THEN 'away'
    ELSE 'clock'
END

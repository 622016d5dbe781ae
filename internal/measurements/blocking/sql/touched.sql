-- The episodes of a class of a server that a sample at $4 may continue, end, join or part: those
-- that are less than a gap ($5 seconds) away.
SELECT id, first_at, last_at, ended_at, waiting, peak_at, seconds, root, ended_by
FROM blocking_episodes
WHERE organization_id = $1 AND instance_id = $2 AND advisory = $3
  AND first_at <= $4::timestamptz + make_interval(secs => $5) AND greatest(last_at, ended_at) >= $4::timestamptz - make_interval(secs => $5)
ORDER BY first_at

-- In how many microseconds the next job is due, or the lease of one ends, by the index jobs_claim.
SELECT (extract(epoch FROM due_at - now()) * 1e6)::bigint
FROM jobs
WHERE kind = $1 AND dead_at IS NULL AND due_at > now()
ORDER BY due_at
LIMIT 1

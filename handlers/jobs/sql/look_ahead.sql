-- Whether a job of a kind is due, and in how many microseconds the next one is or the lease of one ends (null:
-- none waits for its time), by the index jobs_claim.
SELECT EXISTS (SELECT FROM jobs WHERE kind = $1 AND dead_at IS NULL AND due_at <= now()) AS due,
       (SELECT (extract(epoch FROM due_at - now()) * 1e6)::bigint
        FROM jobs
        WHERE kind = $1 AND dead_at IS NULL AND due_at > now()
        ORDER BY due_at
        LIMIT 1) AS micros

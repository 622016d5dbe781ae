-- Who claims the row verifies the next events, alone until $2 seconds are over.
UPDATE log_verifications v SET fence = fence + 1, due_at = clock_timestamp() + make_interval(secs => $2)
WHERE log = $1 AND due_at <= clock_timestamp()
RETURNING fence, position, hash, recorded_at, findings, accepted

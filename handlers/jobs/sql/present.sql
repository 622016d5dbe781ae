-- The worker $1 is there for as long as this session is: a lock of its name under seed $2.
SELECT pg_advisory_lock_shared(hashtextextended($1, $2))

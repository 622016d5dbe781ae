-- Up to a hundred failures from before $1 that make nobody wait at $2: more than
-- one sign-in adds. SKIP LOCKED: somebody is failing again there.
DELETE FROM sign_in_failures
WHERE ctid IN (SELECT ctid FROM sign_in_failures
               WHERE last_failed_at < $1 AND blocked_until <= $2
               LIMIT 100 FOR UPDATE SKIP LOCKED)

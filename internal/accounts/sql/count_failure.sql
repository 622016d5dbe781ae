-- One more failure for the account ($1, at most $3; null: none was named) and for
-- the address ($2, at most $4), as of $5. What failed before $6 is forgotten; past the limit each
-- failure doubles the wait from 15 s up to 5 minutes. The account comes first in
-- every such statement, so that two of them wait instead of deadlocking.
INSERT INTO sign_in_failures AS f (kind, subject, failures, last_failed_at, blocked_until)
SELECT kind, subject, 1, $5, $5
FROM (VALUES (1, 'account', $1::bytea), (2, 'ip', $2::bytea)) AS tried (place, kind, subject)
WHERE subject IS NOT NULL
ORDER BY place
ON CONFLICT (kind, subject) DO UPDATE SET
    failures = CASE WHEN f.last_failed_at < $6 THEN 1 ELSE f.failures + 1 END,
    last_failed_at = $5,
    blocked_until = CASE
        WHEN f.last_failed_at < $6 THEN $5
        WHEN f.failures + 1 < CASE f.kind WHEN 'account' THEN $3::integer ELSE $4::integer END THEN $5
        ELSE $5::timestamptz + least(interval '5 minutes', interval '15 seconds' * power(2, least(10,
            f.failures + 1 - CASE f.kind WHEN 'account' THEN $3::integer ELSE $4::integer END)))
    END

-- Forgets what was answered to the member $1 under an Idempotency-Key, and what
-- others were answered that names them: a name never stands there without its id.
DELETE FROM idempotency_keys
WHERE member_id = $1 OR position(convert_to($1::text, 'UTF8') IN body) > 0

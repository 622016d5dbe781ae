-- $5: how many attempts more it has had. $7: why it failed, where no attempt has said why.
UPDATE deliveries SET
    status     = $2,
    reason     = $3,
    status_at  = $4,
    attempts   = attempts + $5,
    last_code  = CASE WHEN $2 = 'sent' THEN $6 ELSE last_code END,
    last_error = CASE WHEN $2 = 'sent' THEN '' WHEN $2 = 'failed' AND last_error = '' THEN $7 ELSE last_error END
WHERE id = $1

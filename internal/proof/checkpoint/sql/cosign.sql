-- Another process may have asked the same witness: its name and the beginning of its key's
-- hash ($4) are then below the checkpoint already.
UPDATE log_checkpoints SET note = note || $3
WHERE log = $1 AND size = $2 AND strpos(note, $4) = 0

-- What cannot be made waits, twice as long each time, five minutes at most.
UPDATE wholes
SET failures = failures + 1, due = now() + make_interval(secs => least(2 ^ least(failures + 1, 9), 300))
WHERE organization_id = $1 AND kind = $2 AND engine = $3

-- What was signed is the note's first three lines.
SELECT size, root, substr(note, 1, 400) AS note FROM log_checkpoints
WHERE log = $1 AND size > $2
ORDER BY size LIMIT $3

-- Answers what it was, where it was too low.
UPDATE block_revisions r
SET last = $1
FROM (SELECT last FROM block_revisions FOR UPDATE) was
WHERE was.last < $1
RETURNING was.last

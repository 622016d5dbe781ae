-- Locks the checkpoint of a group whose next page, up to $4, was read ahead, in the form
-- of a page without events. Where the group has moved it is no row, and the page is not
-- the next.
SELECT $4::bigint, ''::bytea
FROM checkpoints
WHERE consumer_group = $1 AND log = $2 AND position = $3
FOR UPDATE

-- The instances whose statements somebody holds. Of those that somebody held once, nobody
-- takes the turn before the transaction ends.
SELECT instance_id
FROM (
    SELECT instance_id, held_until
    FROM statement_turns
    WHERE organization_id = $1 AND instance_id = ANY ($2)
    ORDER BY instance_id
    FOR SHARE
) AS known
WHERE held_until > now()
ORDER BY instance_id

-- Links the identity ($1, $2) to the member ($4), unless it is linked already or
-- the member is linked to another of that provider. Says whether it is theirs now, and is so
-- only now.
-- The member's row is locked, so that only another member can come in between;
-- then the insert waits for them, and sees nothing of theirs to show.
WITH linked AS (
    INSERT INTO member_identities (issuer, subject, organization_id, member_id, linked_at)
    VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT DO NOTHING
    RETURNING member_id
)
SELECT new, new OR EXISTS (SELECT FROM member_identities WHERE issuer = $1 AND subject = $2 AND member_id = $4) AS theirs
FROM (SELECT EXISTS (SELECT FROM linked) AS new) AS link

-- The addresses of a channel that nobody has confirmed, and what limits them of the mails since
-- $3: how many asked any address of the organization, and when the one was sent that has to be a
-- day old first, of the last $4 of the address or of the last $5 of all.
SELECT a.id, a.address, a.asked_at,
       (SELECT count(*) FROM confirmation_mails m WHERE m.organization_id = a.organization_id AND m.sent_at > $3)::int AS asked_all,
       greatest(
           (SELECT m.sent_at FROM confirmation_mails m
            WHERE m.organization_id = a.organization_id AND m.address = lower(a.address) AND m.sent_at > $3
            ORDER BY m.sent_at DESC OFFSET $4 - 1 LIMIT 1),
           (SELECT m.sent_at FROM confirmation_mails m
            WHERE m.organization_id = a.organization_id AND m.sent_at > $3
            ORDER BY m.sent_at DESC OFFSET $5 - 1 LIMIT 1)
       ) AS full_since
FROM channel_addresses a
WHERE a.organization_id = $1 AND a.channel_id = $2 AND a.confirmed_at IS NULL
ORDER BY lower(a.address)
FOR UPDATE OF a

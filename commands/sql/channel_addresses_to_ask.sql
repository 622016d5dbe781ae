-- The addresses of a channel that nobody has confirmed, and how many mails asked each, and
-- any address of the organization, since $3.
SELECT a.id, a.address, a.asked_at,
       (SELECT count(*) FROM confirmation_mails m WHERE m.organization_id = a.organization_id AND m.address = lower(a.address) AND m.sent_at > $3)::int AS asked,
       (SELECT count(*) FROM confirmation_mails m WHERE m.organization_id = a.organization_id AND m.sent_at > $3)::int AS asked_all
FROM channel_addresses a
WHERE a.organization_id = $1 AND a.channel_id = $2 AND a.confirmed_at IS NULL
ORDER BY lower(a.address)
FOR UPDATE OF a

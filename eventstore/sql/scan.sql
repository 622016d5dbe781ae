-- Of another organization's events only what the chain needs.
SELECT e.position, e.recorded_at, e.digest, e.hash,
       CASE WHEN $4::uuid = '00000000-0000-0000-0000-000000000000' OR e.organization_id = $4 THEN record_send(e) END
FROM events e
WHERE e.log = $1 AND e.position > $2 AND e.position <= $3
ORDER BY e.position

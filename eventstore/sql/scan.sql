-- Of another organization's events only what the chain needs.
SELECT e.position, e.recorded_at, e.digest, e.hash,
       own.organization_id, own.stream_id, own.stream_type, own.version, own.type, own.schema_version,
       own.occurred_at, own.data, own.metadata
FROM events e
LEFT JOIN LATERAL (SELECT e.*) own
    ON $4::uuid = '00000000-0000-0000-0000-000000000000' OR e.organization_id = $4
WHERE e.log = $1 AND e.position > $2 AND e.position <= $3
ORDER BY e.position

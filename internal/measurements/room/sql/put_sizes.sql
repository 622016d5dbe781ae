-- What was used at $2 (seconds since 1970) on its day, of subjects of organization $1. A value that follows
-- within $8 seconds, or is not newer, adds nothing.
INSERT INTO room_days (organization_id, subject, kind, name, day, points)
SELECT $1, subject, kind, name, (to_timestamp($2) AT TIME ZONE 'UTC')::date, jsonb_build_array(jsonb_build_array($2::bigint, used, size))
FROM unnest($3::text[], $4::text[], $5::text[], $6::double precision[], $7::double precision[]) AS of (subject, kind, name, used, size)
ORDER BY subject, kind, name
ON CONFLICT (organization_id, subject, kind, name, day) DO UPDATE SET points = room_days.points || excluded.points
    WHERE (room_days.points->-1->>0)::bigint + $8 < $2::bigint

-- What began behind the verified end is not missing.
SELECT stream_id, organization_id, stream_type, first_position
FROM streams
WHERE log = $1 AND first_position <= $2
  AND ($3::uuid = '00000000-0000-0000-0000-000000000000' OR organization_id = $3)

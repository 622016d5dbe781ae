-- Whether member $2 of organization $1 was ever disabled.
SELECT EXISTS (
    SELECT FROM events
    WHERE log = 'organization' AND organization_id = $1 AND type = 'member.changed'
      AND convert_from(data, 'UTF8')::jsonb ->> 'memberId' = $2
      AND convert_from(data, 'UTF8')::jsonb ->> 'status' = 'disabled')

-- How many schedules an organization has: those that the projection knows, and what the
-- log has of them that it has not come to. Both are seen as of one moment, so that nothing
-- is counted twice; of the log only the end is read (events_organization).
SELECT (SELECT count(*) FROM schedules_v1.schedules WHERE organization_id = $1) + (
    SELECT count(*) FILTER (WHERE e.type = 'schedule.created') - count(*) FILTER (WHERE e.type = 'schedule.removed')
    FROM events e
    WHERE e.log = 'organization' AND e.organization_id = $1 AND e.position > (
        SELECT c.position
        FROM projection_generations g
        JOIN checkpoints c ON c.consumer_group = g.consumer_group
        WHERE g.projection = 'schedules' AND g.version = 1 AND g.state = 'live' AND c.log = 'organization'
    )
)

-- Of each schedule that member $2 of organization $1 ever made, under the name that it got:
-- how often its owner and others changed it, what became of its due times, and whether the
-- last report that it requested is ready. The log says so, which keeps what is removed.
SELECT made.stream_id AS id, convert_from(made.data, 'UTF8')::jsonb ->> 'name' AS name,
       own.changes, own.others, own.runs,
       EXISTS (SELECT FROM events r
               WHERE r.log = 'reports' AND r.stream_id = own.report AND r.type = 'report.ready') AS ready
FROM events made
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE e.type = 'schedule.changed' AND actor.id = $2) AS changes,
           count(*) FILTER (WHERE e.type IN ('schedule.changed', 'schedule.taken_over', 'schedule.removed') AND actor.id IS DISTINCT FROM $2) AS others,
           count(*) FILTER (WHERE e.type IN ('schedule.requested', 'schedule.unchanged', 'schedule.missed', 'schedule.paused')) AS runs,
           (array_agg((convert_from(e.data, 'UTF8')::jsonb ->> 'reportId')::uuid ORDER BY e.position DESC)
                FILTER (WHERE e.type = 'schedule.requested'))[1] AS report
    FROM events e
    CROSS JOIN LATERAL (SELECT convert_from(e.metadata, 'UTF8')::jsonb ->> 'actorId' AS id) actor
    WHERE e.log = 'organization' AND e.organization_id = $1 AND e.stream_id = made.stream_id) own
WHERE made.log = 'organization' AND made.organization_id = $1 AND made.type = 'schedule.created'
  AND convert_from(made.metadata, 'UTF8')::jsonb ->> 'actorId' = $2

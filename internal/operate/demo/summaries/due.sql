-- Whether the summary of kind $3 of organization $1 is due: its alerts had been recorded by $2, and nobody requested one.
SELECT EXISTS (SELECT FROM events WHERE log = 'fleet' AND organization_id = $1 AND type = 'alert.raised' AND recorded_at < $2)
    AND NOT EXISTS (SELECT FROM events WHERE log = 'reports' AND organization_id = $1 AND type = 'report.queued'
        AND convert_from(data, 'UTF8')::jsonb ->> 'kind' = $3)

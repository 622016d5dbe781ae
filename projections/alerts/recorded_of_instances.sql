SELECT c.*
     FROM (SELECT DISTINCT unnest({{instances}}::uuid[]) AS id) i
     CROSS JOIN LATERAL (
         SELECT a.id, a.last_triggered_at AS last, {{key}} AS key
         FROM alerts_v1.alerts a
         WHERE a.organization_id = {{organization}} AND a.instance_id = i.id{{window of a}}{{filter}}
           AND NOT EXISTS (SELECT FROM alert_last_seen s WHERE {{seen later}})
         ORDER BY {{order}} LIMIT {{depth}}
     ) c

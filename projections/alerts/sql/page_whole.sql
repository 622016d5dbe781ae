-- A page of alerts from two branches, each of which gives as many as there can
-- be on the pages so far: alerts whose last event says how long they fired, and
-- those of which alert_last_seen knows more. By last triggered the first
-- come off an index in order and the second are sorted before their alerts are looked
-- at, so that a page near the front touches few rows.
WITH chosen AS MATERIALIZED (
    ({{recorded}})
    UNION ALL
    ({{seen}})
    ORDER BY {{order}} LIMIT {{size}} OFFSET {{offset}}
)

-- A page of alerts of some instances, in the order of last triggered. The alerts of all instances come
-- off an index in order. Of instances with enough alerts, the page is found among the first of these
-- (near), so that its cost does not grow with the number of instances. A branch that has read as many as
-- it may ends with a row that is cut. If such a row is within the page, later ones are missing, and the
-- alerts are read from the indexes of instances, as many of each as there can be on the pages so far.
WITH near AS MATERIALIZED (
    ({{recorded near}})
    UNION ALL
    ({{seen near}})
    ORDER BY {{order}} LIMIT {{depth}}
),
chosen AS MATERIALIZED (
    SELECT id, last, key FROM near WHERE NOT EXISTS (SELECT FROM near WHERE cut)
    UNION ALL
    SELECT * FROM (
        ({{recorded}})
        UNION ALL
        ({{seen}})
    ) far WHERE EXISTS (SELECT FROM near WHERE cut)
    ORDER BY {{order}} LIMIT {{size}} OFFSET {{offset}}
)

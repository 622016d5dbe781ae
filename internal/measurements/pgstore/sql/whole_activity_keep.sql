-- Keeps rows of activity of a width ($3), or takes away those of which nothing is left.
WITH made AS (
    SELECT dimension, start, lines, sums, classes
    FROM unnest($4::text[], $5::timestamptz[], $6::bytea[], $7::bytea[], $8::bytea[]) AS n (dimension, start, lines, sums, classes)
), gone AS (
    DELETE FROM whole_activity w USING made m
    WHERE m.lines IS NULL AND w.organization_id = $1 AND w.engine = $2 AND w.dimension = m.dimension AND w.width = $3 AND w.start = m.start
)
INSERT INTO whole_activity (organization_id, engine, dimension, width, start, lines, sums, classes)
SELECT $1, $2, dimension, $3, start, lines, sums, classes FROM made WHERE lines IS NOT NULL
ON CONFLICT (organization_id, engine, dimension, width, start)
DO UPDATE SET lines = excluded.lines, sums = excluded.sums, classes = excluded.classes

-- Pieces of rows that whole_activity_read.sql found, of their lines or of their classes, each from a place on, in
-- their order.
SELECT CASE WHEN p.of_classes THEN substr(w.classes, p.place + 1, p.size) ELSE substr(w.lines, p.place + 1, p.size) END
FROM unnest($5::timestamptz[], $6::boolean[], $7::int[], $8::int[]) WITH ORDINALITY AS p (start, of_classes, place, size, n)
JOIN whole_activity w ON w.organization_id = $1 AND w.engine = $2 AND w.dimension = $3 AND w.width = $4 AND w.start = p.start
ORDER BY p.n

-- Notes which days ($4) are missing. From now on each day has a mark, or is here, or is made.
WITH begun AS (
    UPDATE wholes SET begun = true WHERE organization_id = $1 AND kind = $2 AND engine = $3
)
INSERT INTO whole_missing (organization_id, kind, engine, day)
SELECT $1, $2, $3, day FROM unnest($4::timestamptz[]) AS n (day)

-- The samples of a class of a server in which somebody waited, $6 at most: of more, the ones with
-- the most waiting sessions of as many pieces.
SELECT at, waiting, tree, root
FROM (
    SELECT DISTINCT ON (piece) at, waiting, tree, root
    FROM (
        SELECT at, waiting, tree IS NOT NULL AS tree, root, ntile($6::int) OVER (ORDER BY at) AS piece
        FROM blocking_samples
        WHERE organization_id = $1 AND instance_id = $2 AND advisory = $3 AND at BETWEEN $4 AND $5 AND waiting > 0
    ) of
    ORDER BY piece, waiting DESC, at
) most
ORDER BY at

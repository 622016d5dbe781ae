-- Waits for who makes rows of an organization, and holds them.
SELECT count(*) FROM (
    SELECT FROM wholes WHERE organization_id = $1
    ORDER BY kind, engine
    FOR UPDATE
) AS held

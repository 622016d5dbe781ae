-- In one order, so that two that lock the same people wait instead of
-- deadlocking. A row that is being erased is waited for and read as it is then.
WITH locked AS (
    SELECT status FROM members
    WHERE organization_id = $1 AND id = ANY ($2)
    ORDER BY id
    FOR SHARE
)
SELECT coalesce(bool_or(status = 'erased'), false) FROM locked

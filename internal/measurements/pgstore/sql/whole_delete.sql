-- Deletes what there is of an organization ($1), whose wholes are held.
WITH held AS (
    DELETE FROM wholes WHERE organization_id = $1
), marks AS (
    DELETE FROM whole_marks WHERE organization_id = $1
), missing AS (
    DELETE FROM whole_missing WHERE organization_id = $1
), activity AS (
    DELETE FROM whole_activity WHERE organization_id = $1
)
DELETE FROM whole_rows WHERE organization_id = $1

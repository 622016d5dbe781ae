-- The list from either end, and the firing windows of the history, which are read
-- from the index alone. Ascending, although lists are newest first: what is
-- appended at the right end of an index fills its pages, at the left end it leaves
-- them half empty.
CREATE INDEX IF NOT EXISTS alerts_latest ON alerts (organization_id, last_triggered_at, id)
    INCLUDE (first_triggered_at, resolved_at, muted, instance_id);
CREATE INDEX IF NOT EXISTS alerts_of_instance ON alerts (organization_id, instance_id, last_triggered_at, id)
    INCLUDE (first_triggered_at, resolved_at, muted) WHERE instance_id IS NOT NULL;
-- The counts of now and of seven days ago, the open ones as a list, what was
-- resolved when, and what alert_last_seen may know more of.
CREATE INDEX IF NOT EXISTS alerts_open ON alerts (organization_id, last_triggered_at, id)
    INCLUDE (created_at, first_triggered_at, muted, instance_id) WHERE resolved_at IS NULL;
CREATE INDEX IF NOT EXISTS alerts_open_of_instance ON alerts (organization_id, instance_id)
    INCLUDE (created_at, muted) WHERE resolved_at IS NULL AND instance_id IS NOT NULL;
CREATE INDEX IF NOT EXISTS alerts_resolved ON alerts (organization_id, resolved_at)
    INCLUDE (created_at, muted, instance_id) WHERE resolved_at IS NOT NULL;

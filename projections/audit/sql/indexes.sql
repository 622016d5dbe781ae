CREATE INDEX IF NOT EXISTS entries_trail ON entries (organization_id, subject, log, position);
CREATE INDEX IF NOT EXISTS entries_listing ON entries (organization_id, at DESC, log DESC, position DESC);
CREATE INDEX IF NOT EXISTS entries_by_type ON entries (organization_id, type, at, log, position);
CREATE INDEX IF NOT EXISTS entries_by_actor ON entries (organization_id, actor_id, at, log, position);

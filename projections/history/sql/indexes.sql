CREATE INDEX IF NOT EXISTS reports_listing ON reports (organization_id, kind, created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS reports_by_status ON reports (organization_id, kind, status, created_at DESC, id DESC);
CREATE INDEX IF NOT EXISTS reports_due ON reports (organization_id, kind, expires_at) WHERE status = 'Ready';
CREATE INDEX IF NOT EXISTS reports_pdf ON reports (pdf_sha256) WHERE pdf_sha256 IS NOT NULL;
CREATE INDEX IF NOT EXISTS recipients_tray ON recipients (organization_id, member_id, created_at DESC, report_id DESC)
    WHERE status IN ('Queued', 'Building', 'Ready');

-- Notes that blocks of series cannot be reached, where that is not noted. Who deletes one
-- meanwhile does not find it here afterwards.
INSERT INTO series_away (series_id)
SELECT id FROM measured_series WHERE id = ANY ($1) ORDER BY id FOR KEY SHARE SKIP LOCKED
ON CONFLICT DO NOTHING

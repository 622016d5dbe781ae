-- Before when no hour that can be written to has raw samples in blocks, nor one to which
-- the next looks back.
SELECT least(now() - interval '73 hours', (SELECT min(hour) FROM measured_hours WHERE packed) - interval '1 hour')

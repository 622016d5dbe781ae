-- Before when no hour that can be written to has raw samples in blocks, nor one to which
-- the next looks back. Raw samples are kept for $1.
SELECT least(now() - $1::interval - interval '1 hour', (SELECT min(hour) FROM measured_hours WHERE packed) - interval '1 hour')

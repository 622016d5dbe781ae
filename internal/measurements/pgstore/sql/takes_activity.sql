-- Whether the migration is applied that lets series of the kind activity be made.
SELECT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'measured_series'::regclass AND conname = 'measured_series_kinds')

-- Whether the migrations are applied that let series of the kinds activity and server be made.
SELECT count(*) > 0 AS activity, coalesce(bool_or(pg_get_constraintdef(oid) LIKE '%''server''%'), false) AS servers
FROM pg_constraint
WHERE conrelid = 'measured_series'::regclass AND conname = 'measured_series_kinds'

-- Whether the migrations are applied that let series of the kinds activity and server be made, and all figures be kept.
SELECT count(*) FILTER (WHERE conname = 'measured_series_kinds') > 0 AS activity,
       coalesce(bool_or(pg_get_constraintdef(oid) LIKE '%''server''%') FILTER (WHERE conname = 'measured_series_kinds'), false) AS servers,
       count(*) FILTER (WHERE conname = 'measured_series_figures') > 0 AS figures
FROM pg_constraint
WHERE conrelid = 'measured_series'::regclass

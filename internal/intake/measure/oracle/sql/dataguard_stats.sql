-- Oracle 12.2+, on a standby: how far it lags, and by its local time when that was computed and when the data for it came.
-- Database Reference: V$DATAGUARD_STATS.
SELECT name, value, time_computed, datum_time
FROM v$dataguard_stats
WHERE LOWER(name) IN ('transport lag', 'apply lag')

-- For how long hours of series have waited for blocks that are away, in seconds, and of how many.
SELECT coalesce(extract(epoch FROM greatest(now() - min(since), interval '0')), 0)::double precision AS seconds, count(*) AS series
FROM series_away

-- For how long blocks of some series cannot be reached, in seconds, and of how many.
SELECT coalesce(extract(epoch FROM greatest(now() - min(since), interval '0')), 0)::double precision AS seconds, count(*) AS series
FROM series_away

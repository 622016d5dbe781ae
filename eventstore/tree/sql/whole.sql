-- How many whole tiles of level 0 there are: they come in order.
SELECT coalesce(max(index) + 1, 0) FROM log_tiles WHERE log = $1 AND level = 0

-- The blocks of some series, and which have been put since a transaction.
SELECT series_id, start, body, age(xmin) <= age($2::text::xid) AS since
FROM {table}
WHERE series_id = ANY ($1)
ORDER BY series_id, start

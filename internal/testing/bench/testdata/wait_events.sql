SELECT bucket, sum(locks), sum(lightweight), sum(io), sum(client)
FROM (SELECT date_trunc($1, at) AS bucket, database, sum(locks) / n AS locks, sum(lightweight) / n AS lightweight, sum(io) / n AS io, sum(client) / n AS client
      FROM (SELECT *, greatest(1, count(*) FILTER (WHERE locks + lightweight + io + client > 0) OVER (PARTITION BY database, date_trunc($1, at)))::float8 AS n
            FROM sessions WHERE at >= $2 AND at < $3 AND ($4::uuid[] IS NULL OR instance = ANY ($4))) s
      GROUP BY 1, 2, n) d
GROUP BY bucket ORDER BY bucket

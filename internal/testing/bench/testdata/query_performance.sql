SELECT bucket, sum(total) / sum(calls), max(total / calls)
FROM (SELECT date_trunc($1, at) AS bucket, database, key, sum(total) AS total, sum(calls) AS calls
      FROM statements WHERE at >= $2 AND at < $3 AND ($4::uuid[] IS NULL OR instance = ANY ($4))
      GROUP BY 1, 2, 3) q
GROUP BY bucket ORDER BY bucket

SELECT bucket, avg(cpu), avg(memory), max(disk)
FROM (SELECT date_trunc($1, at) AS bucket, instance, avg(cpu) AS cpu, avg(memory) AS memory, max(disk) AS disk
      FROM hosts WHERE at >= $2 AND at < $3 AND ($4::uuid[] IS NULL OR instance = ANY ($4))
      GROUP BY 1, 2) h
GROUP BY bucket ORDER BY bucket

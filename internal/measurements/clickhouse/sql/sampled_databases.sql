SELECT DISTINCT subject, each_database
FROM {{table}} FINAL
ARRAY JOIN
    sampled AS each_database{{sampled_at}}
WHERE {{where}}{{within}}

SELECT
    subject,
    each_database,
    groupArray(each_hash),
    groupArray(all_calls),
    groupArray(all_total),
    groupArray(greatest_most),
    groupArray(all_samples)
FROM
(
    SELECT
        subject,
        each_database,
        each_hash,
        sum(toUInt64(each_calls) + each_high * 65536) AS all_calls,
        sum(each_total) AS all_total,
        max(each_most) AS greatest_most,
        {{count}} AS all_samples
    FROM {{table}} FINAL
    ARRAY JOIN
        database AS each_database,
        hash AS each_hash,
        calls AS each_calls,
        calls_high AS each_high,
        total AS each_total,
        most AS each_most,
        {{column}}
    WHERE {{where}}{{within}}
    GROUP BY subject, each_database, each_hash
)
GROUP BY subject, each_database

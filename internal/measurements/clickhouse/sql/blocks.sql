CREATE TABLE IF NOT EXISTS {{table}} ({{columns}})
ENGINE = {{engine}} PARTITION BY {{partition}} ORDER BY ({{sorting}})
SETTINGS index_granularity = {{granularity}}{{settings}}

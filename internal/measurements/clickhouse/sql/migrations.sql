CREATE TABLE IF NOT EXISTS {{table}} (
    number     UInt32,
    placed     String, -- which shard this is, of which weights: blocks are placed by them
    applied_at DateTime('UTC')
) ENGINE = MergeTree PARTITION BY tuple() ORDER BY number SETTINGS index_granularity = 8192

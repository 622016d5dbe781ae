CREATE TABLE IF NOT EXISTS {{table}} (
    organization UUID,
    kind         String,
    subject      String,
    engine       String,
    start        DateTime('UTC'),
    revision     UInt64, -- the greatest one of a block counts
    place        UInt64, -- which shard it is on, modulo their weights
    present      UInt8,  -- 0: the block was taken away
    body         String
) ENGINE = {{engine}} PARTITION BY {{partition}} ORDER BY (organization, kind, subject, start)
SETTINGS index_granularity = {{granularity}}{{settings}}

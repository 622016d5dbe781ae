CREATE TABLE IF NOT EXISTS {{table}} (
    organization UUID,
    subject      UUID, -- the instance
    engine       String,
    start        DateTime('UTC'),
    revision     UInt64, -- the greatest one of a block counts
    place        UInt64, -- which shard it is on, modulo their weights
    present      UInt8,  -- 0: the block was taken away
    times        Array(UInt32), -- of the samples, microseconds since start
    sampled_at   Array(UInt32), -- which database was sampled when
    sampled      Array(UUID),
    database     Array(UUID), -- of each statement of each sample, from here on
    hash         Array(UInt64),
    at           Array(UInt32),
    calls        Array(UInt16), -- and 65536 times calls_high: LZ4 keeps both in two bytes
    calls_high   Array(UInt64),
    total        Array(Float64), -- ms
    most         Array(Float64)  -- ms; -inf: its sample has none
) ENGINE = {{engine}} PARTITION BY {{partition}} ORDER BY (organization, subject, start)
SETTINGS index_granularity = {{granularity}}{{settings}}

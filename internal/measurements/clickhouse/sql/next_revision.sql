UPDATE block_revisions
SET last = greatest(last + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
RETURNING last

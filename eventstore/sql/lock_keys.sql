-- A reserved key has no stream yet: it is locked like the others, but unknown.
SELECT k.key, k.stream_id, k.version, k.state_digest
FROM lock_stream_keys(
    array_fill($1::uuid, ARRAY[cardinality($3::text[])]),
    array_fill($2::text, ARRAY[cardinality($3::text[])]),
    $3) k
WHERE k.stream_id IS NOT NULL

INSERT INTO dead_letters (id, consumer_group, handler, log, position, organization_id, stream_type, stream_id,
                          event_type, error, attempts)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)

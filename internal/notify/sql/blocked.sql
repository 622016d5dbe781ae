-- Whether another delivery of the rule and channel is being sent, or is due before this one.
SELECT EXISTS (
    SELECT FROM deliveries
    WHERE rule_id = $1 AND channel_id = $2 AND status = 'pending' AND id <> $3
      AND (closed_at IS NOT NULL OR due_at <= $5 AND (due_at, id) < ($4, $3))
)

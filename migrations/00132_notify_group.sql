-- Owner: internal/notify. Notifications follow the logs as a handler, by a checkpoint like a projection's, from
-- where they were followed before.
-- Step: expand
-- A program from before goes on by notification_logs, with its own notification_alerts and
-- notification_instances, beside the new one and after it. Whichever of the two tells an event first notes it
-- there, and the other passes it over: the new program moves told_after, up to which the old one only folds. The
-- three tables go with a migration of the step contract.
-- +goose Up
INSERT INTO checkpoints (consumer_group, handler, log, position)
SELECT 'notify', 'notify', log, greatest(position, told_after) FROM notification_logs;

-- +goose Down
DELETE FROM dropped_events WHERE handler = 'notify';
DELETE FROM dead_letters WHERE consumer_group = 'notify';
DELETE FROM checkpoints WHERE consumer_group = 'notify';

-- One snapshot that shows a checkpoint behind its log's head shows a log that lost events: a
-- page is read, and its checkpoint moved, after the head. Of one that moves meanwhile nothing
-- is changed here.
WITH ahead AS (
    SELECT c.consumer_group, c.log, c.position, h.position AS head
    FROM checkpoints c JOIN log_head h ON h.log = c.log
    WHERE c.position > h.position
)
UPDATE checkpoints c
SET position = a.head, ahead_since = coalesce(c.ahead_since, now()), ahead_events = c.ahead_events + a.position - a.head
FROM ahead a
WHERE c.consumer_group = a.consumer_group AND c.log = a.log AND c.position = a.position
RETURNING c.consumer_group, c.log, a.position - a.head AS events

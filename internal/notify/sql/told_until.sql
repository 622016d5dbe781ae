-- Up to where a program from before has told a log ($1), and what is done with, and up to where our group
-- ($2) has handled it. Nobody from before follows the log until this transaction ends. Once the log has lost
-- events, its positions are others than those that were told.
SELECT CASE WHEN c.ahead_since IS NULL THEN greatest(n.position, n.told_after) ELSE 0 END AS told, c.position AS handled
FROM notification_logs n JOIN checkpoints c ON c.log = n.log AND c.consumer_group = $2
WHERE n.log = $1
FOR UPDATE OF n

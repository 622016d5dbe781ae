-- Who claims the row verifies the next events, alone until $2 seconds are over. A pass that
-- began more than $3 seconds ago, before Muster stood still, begins anew: it could not say that
-- all events were verified within that time. late: no whole pass began within it.
UPDATE log_verifications v SET fence = fence + 1, due_at = clock_timestamp() + make_interval(secs => $2),
    position = CASE WHEN o.old THEN 0 ELSE v.position END,
    hash = CASE WHEN o.old THEN NULL ELSE v.hash END,
    recorded_at = CASE WHEN o.old THEN NULL ELSE v.recorded_at END,
    begun_at = CASE WHEN o.old THEN clock_timestamp() ELSE v.begun_at END
FROM (SELECT log, begun_at < clock_timestamp() - make_interval(secs => $3) AS old FROM log_verifications) o
WHERE v.log = $1 AND o.log = v.log AND v.due_at <= clock_timestamp()
RETURNING v.fence, v.position, v.hash, v.recorded_at, v.findings, v.accepted,
    v.whole_at < clock_timestamp() - make_interval(secs => $3) AS late

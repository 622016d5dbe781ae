-- Could samples be sent for the last six hours, but for less than an hour at a time?
SELECT EXISTS (
    SELECT FROM intake_presence
    WHERE seen_at >= now() - interval '1 hour' AND back_at <= now() - interval '6 hours'
)

-- Could samples be sent for as long as $2, but for less than $1 at a time?
SELECT EXISTS (
    SELECT FROM intake_presence
    WHERE seen_at >= now() - $1::interval AND back_at <= now() - $2::interval
)

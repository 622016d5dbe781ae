-- Before when blocks of days of hours, which are kept for $1, are not needed to make anything
-- anew: a week is open while it has raw samples or open details.
SELECT least(now() - $1::interval, (SELECT min(week) FROM open_weeks), date_trunc('week', (SELECT min(hour) FROM measured_hours), 'UTC'))

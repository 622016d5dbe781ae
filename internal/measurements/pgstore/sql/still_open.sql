-- Before when blocks of days of hours are not needed to make anything anew: a week is
-- open while it has raw samples or open details.
SELECT least(now() - interval '400 days', (SELECT min(week) FROM open_weeks), date_trunc('week', (SELECT min(hour) FROM measured_hours), 'UTC'))

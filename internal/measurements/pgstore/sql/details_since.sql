-- Since when details are kept: what is deleted after $1 seconds, and, of what is in
-- details alone ($2), what was measured before there were any.
SELECT greatest(now() - make_interval(secs => $1), (SELECT since FROM details_since WHERE $2)) AS since

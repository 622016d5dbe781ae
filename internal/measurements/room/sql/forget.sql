DELETE FROM room_days WHERE ctid IN (SELECT ctid FROM room_days WHERE day < (now() - make_interval(secs => $1))::date LIMIT $2)

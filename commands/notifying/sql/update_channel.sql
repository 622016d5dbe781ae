UPDATE notification_channels SET name = $2, member_ids = $3, administrators = $4, sealed = $5 WHERE id = $1

SELECT alert_id, labels::text AS labels FROM notification_fed WHERE channel_id = $1 AND alert_id = ANY ($2::uuid[])

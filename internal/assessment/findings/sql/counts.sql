{{covered}}
SELECT f.instance_id, count(*) AS findings {{matching}}
GROUP BY f.instance_id

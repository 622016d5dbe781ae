CASE WHEN a.id = ANY ({{elsewhere}}) THEN (
    SELECT o.id::uuid FROM unnest(string_to_array(a.other_instance_ids, ',')) WITH ORDINALITY AS o (id, n)
    WHERE o.id::uuid = ANY ({{instances}}) ORDER BY o.n LIMIT 1) ELSE a.instance_id END

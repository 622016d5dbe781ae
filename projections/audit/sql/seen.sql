-- What somebody with the role team ({{member}}) sees of the entries e: those about one of their
-- servers ({{servers}}), and what they did themselves that is about no server. Exceptions for all
-- servers are theirs, too; a report or schedule is theirs if its servers are, by id or by the tags of
-- today. An own schedule is theirs also while no server has its tags. Evidence does not tell its servers: it is
-- only that of who made it. Each look is by a primary key, but for the tags of a schedule.
AND coalesce((
    SELECT bool_or(thing.seen)
    FROM (
        SELECT id = ANY ({{servers}}) FROM fleet_v3.instances WHERE organization_id = $1 AND id = e.subject
        UNION ALL
        SELECT instance_id = ANY ({{servers}}) FROM fleet_v3.databases WHERE organization_id = $1 AND id = e.subject
        UNION ALL
        SELECT false FROM fleet_v3.gone WHERE organization_id = $1 AND id = e.subject
        UNION ALL
        SELECT coalesce(instance_id = ANY ({{servers}}), false) OR string_to_array(other_instance_ids, ',') && {{servers}}::text[] FROM alerts_v5.alerts WHERE organization_id = $1 AND id = e.subject
        UNION ALL
        SELECT instance_id = ANY ({{servers}}) FROM findings WHERE organization_id = $1 AND id = e.subject
        UNION ALL
        SELECT coalesce(instance_id = ANY ({{servers}}), true) FROM exceptions_v1.exceptions WHERE organization_id = $1 AND id = e.subject
        UNION ALL
        SELECT scope -> 'instanceIds' <> '[]' AND scope -> 'instanceIds' <@ to_jsonb({{servers}})
        FROM report_history_v2.reports WHERE organization_id = $1 AND id = e.subject
        UNION ALL
        SELECT CASE WHEN coalesce(terms -> 'scope' -> 'instanceIds', '[]') NOT IN ('[]', 'null')
                    THEN terms -> 'scope' -> 'instanceIds' <@ to_jsonb({{servers}})
                    WHEN coalesce(terms -> 'scope' -> 'tags', '{}') NOT IN ('{}', 'null')
                    THEN coalesce((
                        SELECT bool_and(i.id = ANY ({{servers}})) FROM fleet_v3.instances i
                        WHERE i.organization_id = $1 AND i.active AND NOT EXISTS (
                            SELECT FROM jsonb_each(terms -> 'scope' -> 'tags') AS tag (key, words)
                            WHERE NOT coalesce(tag.words ? (i.tags -> tag.key ->> 'value'), false))
                    ), owner_id::text = {{member}})
                    ELSE owner_id::text = {{member}} END
        FROM schedules_v1.schedules WHERE organization_id = $1 AND id = e.subject
    ) AS thing (seen)
), e.actor_id = {{member}})

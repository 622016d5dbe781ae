(SELECT count(*)
 FROM alerts_v5.alerts a
 WHERE a.organization_id = {{organization}} AND a.id = ANY ({{elsewhere}}){{window of a}}{{filter}})

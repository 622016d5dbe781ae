SELECT count(*) FROM alerts_v2.alerts a WHERE {{touches}}

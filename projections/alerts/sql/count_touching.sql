SELECT count(*) FROM alerts_v3.alerts a WHERE {{touches}}

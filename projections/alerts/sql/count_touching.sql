SELECT count(*) FROM alerts_v5.alerts a WHERE {{touches}}

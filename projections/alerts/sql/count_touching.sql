SELECT count(*) FROM alerts_v4.alerts a WHERE {{touches}}

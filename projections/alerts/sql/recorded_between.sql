(SELECT count(*)
 FROM alerts_v5.alerts a
 WHERE {{scope}}{{window of a}}{{filter}})

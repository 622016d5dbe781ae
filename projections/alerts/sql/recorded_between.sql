(SELECT count(*)
 FROM alerts_v1.alerts a
 WHERE {{scope}}{{window of a}}{{filter}})

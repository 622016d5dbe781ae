(SELECT count(*)
 FROM alerts_v2.alerts a
 WHERE {{scope}}{{window of a}}{{filter}})

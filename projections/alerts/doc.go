// Package alerts is the read model of alerts: the list, one alert, the counts
// and the history by bucket.
package alerts

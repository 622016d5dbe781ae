// Package ingest answers what programs send: the native feed, Prometheus' remote_write,
// OTLP and Alertmanager. A handler reads, calls a door of package intake, and answers.
// What a message means, and whether its sender may say it, is the doors'.
//
// What standard agents send has forms of its own (openapi.yaml hands it on as it came):
// its door reads it, and says what of it cannot be used.
package ingest

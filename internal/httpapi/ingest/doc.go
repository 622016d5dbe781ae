// Package ingest serves the routes to which programs send: the native feed, Prometheus'
// remote_write, OTLP and Alertmanager. A handler reads the message, calls a door of package
// intake, and answers. The doors decide what a message means and whether its sender may send it.
//
// Standard agents send messages in their own forms, which openapi.yaml passes on unchanged.
// Their door reads them, and reports what it cannot use.
package ingest

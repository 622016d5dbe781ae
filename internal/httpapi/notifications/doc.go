// Package notifications has the handlers of channels, notification rules and deliveries, and
// of who is told of an alert or a server.
package notifications

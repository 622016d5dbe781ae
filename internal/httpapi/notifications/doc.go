// Package notifications serves channels, notification rules and deliveries, and the list of
// people who are notified about an alert or a server.
package notifications

// Package alert is the life of an alert: raised, perhaps acknowledged or muted,
// and closed by somebody or by itself.
package alert

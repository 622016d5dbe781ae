package usecase

import (
	"sync"

	"muster/domain/alert"
	"muster/domain/exception"
	"muster/domain/fleet"
	"muster/domain/maintenance"
	"muster/domain/mark"
	"muster/domain/notification"
	"muster/domain/objective"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/domain/schedule"
	"muster/domain/team"
	"muster/eventstore"
)

// Registry returns the wire names of every event that commands write, for its readers:
// commands, projections, the auditor's tools. All are at schema version 1. testdata/events
// holds an example of every version ever written; add to it, never change it.
func Registry() *eventstore.Registry {
	r := eventstore.NewRegistry()
	register(r, report.Events(), report.Name)
	register(r, fleet.Events(), fleet.Name)
	register(r, alert.Events(), alert.Name)
	register(r, organization.Events(), organization.Name)
	register(r, exception.Events(), exception.Name)
	register(r, schedule.Events(), schedule.Name)
	register(r, notification.Events(), notification.Name)
	register(r, team.Events(), team.Name)
	register(r, mark.Events(), mark.Name)
	register(r, maintenance.Events(), maintenance.Name)
	register(r, objective.Events(), objective.Name)
	return r
}

func register[E any](r *eventstore.Registry, events []E, name func(E) string) {
	for _, e := range events {
		r.Register(name(e), 1, e)
	}
}

// ourRegistry is Registry, made once a process, at its first use.
var ourRegistry = sync.OnceValues(func() (*eventstore.Registry, error) {
	r := Registry()
	return r, r.Err()
})

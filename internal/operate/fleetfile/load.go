package fleetfile

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/maintenance"
	"muster/commands/objectives"
	"muster/domain/exception"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/assessment"
	"muster/internal/intake/heartbeat"
	"muster/internal/watch/status"
	"muster/projections/exceptions"
	"muster/projections/fleet"
)

// Source reads what there is. Every query carries the organization.
type Source struct {
	DB         *sqlx.DB
	Accounts   *accounts.Store
	Fleet      *fleet.Reader
	Exceptions *exceptions.Reader
	Servers    *assessment.Store
	Agents     *heartbeat.Store
}

// sentLately is how long an instance that others send counts as sent by them.
const sentLately = 24 * time.Hour

// everyone is a page that holds all.
const everyone = 1 << 30

// Load reads the state of an organization, as far as a file needs it.
func (s Source) Load(ctx context.Context, of uuid.UUID, f File, now time.Time) (State, error) {
	state := State{Now: now}
	var err error
	if state.Settings, err = s.settings(ctx, of); err != nil {
		return state, err
	}
	if state.Teams, err = s.Accounts.Teams(ctx, of); err != nil {
		return state, err
	}
	if state.Channels, err = s.channels(ctx, of); err != nil {
		return state, err
	}
	if state.Rules, err = s.rules(ctx, of); err != nil {
		return state, err
	}
	if state.Watch, err = s.Accounts.WatchRulesOf(ctx, of); err != nil {
		return state, err
	}
	if state.Windows, err = maintenance.List(ctx, s.DB, of, now); err != nil {
		return state, err
	}
	if state.Objectives, err = objectives.Current(ctx, s.DB, of); err != nil {
		return state, err
	}
	if state.People, err = s.people(ctx, of, f); err != nil {
		return state, err
	}
	rows, _, err := s.Fleet.Instances(ctx, fleet.Query{Organization: of, Page: 1, Size: everyone})
	if err != nil {
		return state, err
	}
	ids := make([]uuid.UUID, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	states, err := s.Servers.States(ctx, of, ids)
	if err != nil {
		return state, err
	}
	heard, err := status.Of(ctx, s.DB, of, ids, now)
	if err != nil {
		return state, err
	}
	agents, err := s.Agents.Of(ctx, of, ids)
	if err != nil {
		return state, err
	}
	databases, err := s.databases(ctx, of, f, rows)
	if err != nil {
		return state, err
	}
	for _, row := range rows {
		is := states[row.ID]
		known := Known{Instance: row, Connected: is.Collected, Classify: is.Classify, Databases: databases[row.ID]}
		var last time.Time
		if at := heard[row.ID].LastSeen; at != nil {
			last = *at
		}
		if seen := agents[row.ID].SeenAt; seen.After(last) { // it speaks of a server that it may not reach
			last = seen
		}
		if is.LastAssessedAt != nil && is.LastAssessedAt.After(last) {
			last = *is.LastAssessedAt
		}
		known.Sent = !is.Collected && now.Sub(last) < sentLately
		state.Instances = append(state.Instances, known)
	}
	if err := s.connections(ctx, of, f, state.Instances); err != nil {
		return state, err
	}
	state.Exceptions, _, err = s.Exceptions.Page(ctx, exceptions.Query{
		Organization: of, Statuses: []exception.Status{exception.StatusGranted, exception.StatusRequested}, Page: 1, Size: everyone,
	}, now)
	if err != nil {
		return state, err
	}
	var named []uuid.UUID
	for _, x := range state.Exceptions {
		if x.DatabaseID != nil {
			named = append(named, *x.DatabaseID)
		}
	}
	state.DatabaseNames, err = s.Fleet.DatabaseNames(ctx, of, named)
	return state, err
}

func (s Source) settings(ctx context.Context, of uuid.UUID) (organization.Settings, error) {
	var is organization.Settings
	o, ok, err := s.Accounts.Organization(ctx, of)
	if err == nil && ok {
		is = o.Settings()
	}
	return is, err
}

// databases are those of the instances of which the exceptions of a file name any.
func (s Source) databases(ctx context.Context, of uuid.UUID, f File, rows []fleet.Instance) (map[uuid.UUID][]fleet.Database, error) {
	named := map[string]bool{}
	for _, x := range f.Exceptions {
		named[x.Instance] = named[x.Instance] || x.Database != ""
	}
	var ids []uuid.UUID
	for _, row := range rows {
		if named[row.ExternalID] {
			ids = append(ids, row.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return s.Fleet.DatabasesOf(ctx, of, ids)
}

// connections opens those that the file may change.
func (s Source) connections(ctx context.Context, of uuid.UUID, f File, instances []Known) error {
	declared := map[string]bool{}
	for _, i := range f.Instances {
		declared[i.ExternalID] = i.DSN != "" || i.Classify != ""
	}
	for i := range instances {
		known := &instances[i]
		if !known.Connected || !declared[known.ExternalID] {
			continue
		}
		c, connected, err := s.Servers.Credentials(ctx, of, known.ID)
		if err != nil {
			return err
		}
		known.Connected, known.DSN = connected, c.DSN
	}
	return nil
}

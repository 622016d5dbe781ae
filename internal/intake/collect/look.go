package collect

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/internal/assessment"
	"muster/internal/assessment/changes"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/grants"
	"muster/internal/assessment/inspection"
	"muster/internal/concurrency/lease"
	"muster/internal/concurrency/pause"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

// look does what a claim is for and ends the claim, whatever happens short of
// the process's death.
func (c *Collector) look(ctx context.Context, claim assessment.Claim) error {
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := lease.Kept{
		Term: term, What: claim.Lost(), Lost: cancel,
		Renew: func(ctx context.Context) error { return c.store.Extend(ctx, claim, term) },
		Failed: func(err error) {
			c.log.WarnContext(work, "extend the claim on an instance", "instance", claim.Instance, "error", err)
		},
	}.Keep(work)
	err := c.assess(work, claim)
	stop()

	if err == nil || lease.IsLost(ctx, err) {
		return err
	}
	if lease.IsLost(work, nil) { // which is why it failed, whatever it says
		return errors.Join(err, context.Cause(work))
	}
	after := faultInterval
	var inactive *InactiveError
	switch {
	case errors.As(err, &inactive):
		after = inactiveInterval
	case ctx.Err() != nil:
		after = 0 // we are stopping, another may start at once
	}
	release, done := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer done()
	return errors.Join(err, c.store.Release(release, claim, pause.Jittered(after)))
}

// assess looks at the server and keeps what it found.
func (c *Collector) assess(ctx context.Context, claim assessment.Claim) error {
	active, err := c.instances.Active(ctx, claim.Organization, claim.Instance)
	if err != nil {
		return err
	}
	if !active {
		return c.leave(ctx, claim)
	}
	credentials, ok, err := c.store.Credentials(ctx, claim.Organization, claim.Instance)
	if err != nil {
		return err
	}
	if !ok {
		return &NotCollectedError{Instance: claim.Instance}
	}
	inspector := c.inspectors[credentials.Engine]
	if inspector == nil {
		return &servers.UnknownEngineError{Engine: credentials.Engine}
	}
	target, err := credentials.Target(c.reach)
	if err != nil {
		return err
	}

	limited, end := c.limit(ctx)
	defer end()
	found, state := inspector.Assess(limited, target)
	var classified []assessment.DatabaseClassification
	next := retryInterval
	if found.Outcome != snapshot.OutcomeUnreachable {
		next = interval
		for _, database := range anywhere(found.Databases) {
			if database.AllowsConn {
				run := inspector.Classify(limited, target, database.Name, credentials.Classify)
				classified = append(classified, assessment.DatabaseClassification{Database: database.Name, Classification: run})
				if run.Again {
					next = retryInterval
				}
			}
		}
	}
	if ctx.Err() != nil { // the result may only say that we were stopped
		return context.Cause(ctx)
	}
	if _, over := inspection.Over(limited); over {
		c.log.WarnContext(ctx, "a server answered too slowly to be assessed as a whole", "instance", claim.Instance, "limit", inspection.LookLimit)
	}
	declined, err := c.store.Declined(ctx, claim.Organization, []uuid.UUID{claim.Instance})
	if err != nil {
		return err
	}
	grants.Decline(credentials.Engine, &found, declined[claim.Instance])
	if found.Outcome != snapshot.OutcomeUnreachable {
		names, err := c.record(ctx, limited, claim, inspector, target, found)
		if err != nil {
			return err
		}
		printed := inspection.Print(&found, &state, names)
		for i := range classified {
			classified[i].Database = cmp.Or(printed[classified[i].Database], classified[i].Database)
		}
		if state.Server.Process != "" {
			if _, err := c.store.SawServer(ctx, claim.Organization, claim.Instance, state.Server); err != nil {
				return err
			}
		}
	}
	accepted, err := c.accepted(ctx, claim.Organization, claim.Instance)
	if err != nil {
		return err
	}
	standing := c.store.StandingOf(ctx, claim.Organization, []changes.Assessed{
		{Instance: claim.Instance, Engine: credentials.Engine, At: found.FinishedAt, Facts: &found},
	})[0]
	return c.store.Record(ctx, claim, found, classified, pause.Jittered(next), func(tx *sqlx.Tx, kept fleet.AssessmentKept) error {
		assessed, news, err := changes.Keep(ctx, tx, changes.Look{
			Organization: claim.Organization, Instance: claim.Instance, Engine: credentials.Engine, ID: claim.Token, At: kept.At,
			Assessment: found, State: state, Accepted: accepted, Standing: standing, Altered: c.store.Altered,
		})
		if err != nil {
			return err
		}
		var told fleet.Assessed = kept
		if news {
			told = assessed.Binding(kept)
		}
		_, err = c.fleet.RecordAssessmentTx(ctx, tx, actor(claim), told)
		return err
	})
}

// anywhere begins a list anywhere: where looks end before all databases are classified, each
// has its turn in one of them.
func anywhere(databases []snapshot.DatabaseFact) []snapshot.DatabaseFact {
	if len(databases) == 0 {
		return nil
	}
	at := rand.IntN(len(databases)) //nolint:gosec // G404: nothing is guarded by it
	return slices.Concat(databases[at:], databases[:at])
}

// leave ends the assessment of an instance that must not be assessed, always with an error. The
// read model cannot tell a deactivated instance, or one registered a moment ago, from a removed
// one; the write side can. A feed that removes an instance does not know its connection, and a
// process may die between the event and erasing it, so it is erased here.
func (c *Collector) leave(ctx context.Context, claim assessment.Claim) error {
	_, err := c.fleet.ChangeInstance(ctx, actor(claim), claim.Instance, inventory.Change{})
	var gone *usecase.NotFoundError
	if errors.As(err, &gone) {
		err = c.store.Erase(ctx, claim)
	}
	if err != nil {
		return err
	}
	return &InactiveError{Instance: claim.Instance}
}

func actor(claim assessment.Claim) usecase.Actor {
	return usecase.Actor{OrganizationID: claim.Organization, Component: "collector"}
}

// record tells the fleet what was found. A rule that refuses it (a name too
// long for the lists) must not keep the assessment from being kept.
//
// The databases are listed anew: the look took minutes, perhaps, and the monitor
// tells the fleet of those that came meanwhile. A server that cannot be asked any
// more, or whose look is over (limited), has those that it had. The names are returned as
// the server has them.
func (c *Collector) record(ctx, limited context.Context, claim assessment.Claim, inspector inspection.Inspector, target servers.Target, found snapshot.Assessment) (names []string, err error) {
	version := versionOf(found)
	_, changeErr := c.fleet.ChangeInstance(ctx, actor(claim), claim.Instance, inventory.Change{Version: &version})
	names, listErr := inspector.Databases(limited, target)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var recordErr error
	if listErr == nil {
		_, recordErr = c.fleet.RecordDatabases(ctx, actor(claim), claim.Instance, names)
	}
	for _, err := range []error{changeErr, recordErr} {
		var rule *usecase.RuleError
		var gone *usecase.NotFoundError
		switch {
		case err == nil:
		case errors.As(err, &gone):
			return nil, c.leave(ctx, claim)
		case errors.As(err, &rule):
			c.log.WarnContext(ctx, "the fleet refused the assessment of an instance", "instance", claim.Instance, "error", err)
		default:
			return nil, err
		}
	}
	return names, nil
}

// versionOf is the version as the fleet shows it: PostgreSQL's has a number, the others
// tell theirs.
func versionOf(found snapshot.Assessment) string {
	if found.VersionNum > 0 {
		return feed.VersionOf(found.VersionNum).String()
	}
	return found.VersionText
}

package fleetfile

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/exception"
	"muster/domain/fleet"
	"muster/eventstore"
	"muster/internal/assessment"
	"muster/internal/concurrency/supervise"
	"muster/internal/servers"
)

// Connections tries how a server is reached; *collect.Collector is one.
type Connections interface {
	// Try says which server answers, and returns *servers.DSNError, *servers.ConnectionError or
	// *servers.UnknownEngineError where a server cannot be assessed.
	Try(ctx context.Context, organization uuid.UUID, engine fleet.Engine, dsn string) (servers.Identity, error)
	// Request makes an instance due to be assessed now.
	Request(ctx context.Context, organization, instance uuid.UUID) error
}

// Applier applies plans.
type Applier struct {
	DB          *sqlx.DB
	Commands    *commands.Service
	Servers     *assessment.Store
	Connections Connections
	// CatchUp waits until the fleet's read model has what was written, which exceptions
	// are held against.
	CatchUp func(ctx context.Context) error
	Actor   usecase.Actor
	// Unreached takes servers that cannot be reached now, as long as Muster may connect
	// to them.
	Unreached bool
}

// triedAtOnce is how many servers are tried at the same time: of 300 of which 30 let
// time run out, that is 20 seconds.
const triedAtOnce = 16

// errMeanwhile says that somebody else changed what was compared.
var errMeanwhile = errors.New("another change came in between; apply the file again")

// notThereError says that the instance of an exception is not there.
type notThereError struct{ instance string }

func (e *notThereError) Error() string { return "the instance " + e.instance + " is not there" }

// Apply applies a plan's changes, each in a transaction of its own, and writes into each
// what came of it. What is refused stands in no other's way; the error is what stood in
// the way of all that follow, which are not tried then.
func (a *Applier) Apply(ctx context.Context, p *Plan) error {
	unreached := a.try(ctx, p)
	defer a.request(ctx, p)
	caughtUp := false
	for i := range p.Changes {
		c := &p.Changes[i]
		err := ctx.Err()
		if err == nil && slices.Contains([]string{KindTeam, KindRule, KindWindow, KindObjectives, KindException}, c.Kind) && !caughtUp {
			err = a.CatchUp(ctx)
			caughtUp = err == nil
		}
		if err == nil {
			if err = unreached[i]; err == nil {
				err = a.do(ctx, c.task, p)
			}
		}
		if err == nil {
			c.Outcome = Done
			continue
		}
		c.Outcome, c.Problem = NotDone, problemOf(err, p)
		if c.Problem == nil {
			return err
		}
	}
	return nil
}

// request has what was registered assessed once the fleet's read model lists it: a
// collector that met it before puts it off for half a minute.
func (a *Applier) request(ctx context.Context, p *Plan) {
	caughtUp := false
	for _, c := range p.Changes {
		if t := c.task.instance; c.Outcome != Done || c.Action != Add || t == nil || !t.connection {
			continue
		}
		if !caughtUp && a.CatchUp(ctx) != nil {
			return
		}
		caughtUp = true
		// Where it cannot be, half a minute is all that is lost.
		_ = a.Connections.Request(ctx, a.Actor.OrganizationID, p.ids[c.ExternalID])
	}
}

// try connects to every server whose connection is new or another, and returns why those
// that are refused were not reached, by the change's number.
func (a *Applier) try(ctx context.Context, p *Plan) map[int]error {
	failed := make([]error, len(p.Changes))
	var group supervise.Group
	group.SetLimit(triedAtOnce)
	for i, c := range p.Changes {
		if t := c.task.instance; t != nil && t.connection {
			group.Go(func() error {
				t.is, failed[i] = a.Connections.Try(ctx, a.Actor.OrganizationID, t.declared.Engine, t.declared.DSN)
				return nil
			})
		}
	}
	group.Join()
	refused := map[int]error{}
	for i, err := range failed {
		away := new(servers.ConnectionError)
		taken := a.Unreached && errors.As(err, &away) && away.Class != servers.ClassNotAllowed
		if err != nil && !taken {
			refused[i] = err
		}
	}
	return refused
}

func (a *Applier) do(ctx context.Context, t task, p *Plan) error {
	switch {
	case t.settings != nil:
		_, _, err := a.Commands.ChangeOrganization(ctx, a.Actor, *t.settings)
		return err
	case t.team != nil:
		return a.team(ctx, t.team, p)
	case t.channel != nil:
		return a.channel(ctx, t.channel, p)
	case t.rule != nil:
		return a.rule(ctx, t.rule, p)
	case t.watch != nil:
		_, err := a.Commands.SetWatchRule(ctx, a.Actor, *t.watch)
		return err
	case t.window != nil:
		return t.window.apply(ctx, a, p)
	case t.objectives != nil:
		return t.objectives.apply(ctx, a, p)
	case t.exception != nil:
		return a.except(ctx, t.exception, p)
	case t.instance.remove:
		return eventstore.Transact(ctx, a.DB, func(tx *sqlx.Tx) error {
			if err := a.Servers.Forget(ctx, tx, a.Actor.OrganizationID, t.instance.id); err != nil {
				return err
			}
			_, err := a.Commands.RemoveInstanceTx(ctx, tx, a.Actor, t.instance.id)
			return err
		})
	case t.instance.id == uuid.Nil:
		return a.register(ctx, t.instance, p)
	}
	return eventstore.Transact(ctx, a.DB, func(tx *sqlx.Tx) error { return a.change(ctx, tx, t.instance) })
}

// register keeps an instance and its connection in one transaction, as the API does.
func (a *Applier) register(ctx context.Context, t *instanceTask, p *Plan) error {
	i := t.declared
	id := uuid.Must(uuid.NewV7())
	in := inventory.Registration{ExternalID: i.ExternalID, Name: i.called(), Engine: i.Engine, Active: i.Active == nil || *i.Active, Tags: i.Tags}
	if i.Host != nil {
		in.Host = *i.Host
	} else if i.DSN != "" {
		in.Host = i.target.HostName()
	}
	err := eventstore.Transact(ctx, a.DB, func(tx *sqlx.Tx) error {
		if i.DSN != "" {
			if err := a.Servers.RegisterServer(ctx, tx, a.Actor.OrganizationID, id, t.is, i.separate()); err != nil {
				return err
			}
			err := a.Servers.SaveCredentials(ctx, tx, assessment.Credentials{
				Organization: a.Actor.OrganizationID, Instance: id, Engine: i.Engine, DSN: i.DSN, Classify: i.Classify,
			})
			if err != nil {
				return err
			}
		}
		_, _, err := a.Commands.RegisterInstanceTx(ctx, tx, a.Actor, id, in)
		return err
	})
	if err == nil {
		p.ids[i.ExternalID] = id
	}
	return err
}

// change replaces the connection only where it is the one that was compared.
func (a *Applier) change(ctx context.Context, tx *sqlx.Tx, t *instanceTask) error {
	if t.connection || t.classify {
		is, connected, err := a.Servers.LockCredentials(ctx, tx, a.Actor.OrganizationID, t.id)
		switch {
		case err != nil:
			return err
		case connected != (t.was != ""), is.DSN != t.was:
			return errMeanwhile
		}
		is.Organization, is.Instance, is.Engine, is.Classify = a.Actor.OrganizationID, t.id, t.declared.Engine, t.declared.Classify
		if t.connection {
			is.DSN, is.Own = t.declared.DSN, false
			if err := a.Servers.RegisterServer(ctx, tx, a.Actor.OrganizationID, t.id, t.is, t.declared.separate()); err != nil {
				return err
			}
		}
		if err := a.Servers.SaveCredentials(ctx, tx, is); err != nil {
			return err
		}
	}
	_, err := a.Commands.ChangeInstanceTx(ctx, tx, a.Actor, t.id, t.change)
	return err
}

// except asks for an exception and grants it, and then revokes those that it takes the
// place of: in between, both are in force, and never none. Cut off anywhere, the next run
// finds what is missing.
func (a *Applier) except(ctx context.Context, t *exceptionTask, p *Plan) error {
	if t.declared != nil && !t.granted {
		asked := t.asked
		if asked == uuid.Nil {
			x := t.declared
			about := exception.Subject{CheckID: x.CheckID, DatabaseID: t.database, ObjectRef: x.ObjectRef}
			if t.on != "" {
				id, there := p.ids[t.on]
				if !there {
					return &notThereError{instance: t.on}
				}
				about.InstanceID = &id
			}
			var err error
			if asked, _, err = a.Commands.RequestException(ctx, a.Actor, commands.RequestException{Subject: about, Reason: x.Reason, Until: x.Until}); err != nil {
				return err
			}
		}
		if _, err := a.Commands.GrantException(ctx, a.Actor, asked); err != nil {
			return err
		}
	}
	for _, id := range t.ends {
		if _, err := a.Commands.RevokeException(ctx, a.Actor, id); err != nil {
			return err
		}
	}
	return nil
}

// problemOf is why one change was refused; nil is an error that stands in the way of all.
func problemOf(err error, p *Plan) *Problem {
	dsn, away, engine := new(servers.DSNError), new(servers.ConnectionError), new(servers.UnknownEngineError)
	known := new(assessment.KnownServerError)
	rule, missing, notThere := new(usecase.RuleError), new(usecase.NotFoundError), new(notThereError)
	switch {
	case errors.Is(err, errMeanwhile):
		return &Problem{Code: "precondition_failed", Detail: err.Error()}
	case errors.As(err, &known):
		return &Problem{Code: "already_registered", Detail: "leads to the server of the instance " + p.named(known.Instance) + "; with separate: true it is registered in addition to that one"}
	case errors.As(err, &dsn):
		return &Problem{Code: "invalid_parameter", Detail: dsn.Error()}
	case errors.As(err, &away) && away.Class == servers.ClassNotAllowed:
		return &Problem{Code: "target_not_allowed", Detail: away.Sentence}
	case errors.As(err, &away):
		return &Problem{Code: "connection_failed", Detail: away.Sentence}
	case errors.As(err, &engine):
		return &Problem{Code: "engine_not_collected", Detail: engine.Error()}
	case errors.As(err, &rule) && rule.Code == "duplicate_external_id", errors.As(err, &missing):
		return &Problem{Code: "precondition_failed", Detail: errMeanwhile.Error()}
	case errors.As(err, &rule):
		return &Problem{Code: rule.Code, Detail: rule.Detail}
	case errors.As(err, &notThere):
		return &Problem{Code: "not_found", Detail: notThere.Error()}
	}
	return nil
}

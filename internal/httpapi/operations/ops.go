package operations

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"muster/eventstore/topic"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/concurrency/supervise/falls"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/intake/budgets"
	"muster/internal/mail"
	"muster/internal/measurements/drops"
	"muster/internal/proof/checkpoint"
	"muster/projections"
)

// listed is how many rows a list of operations shows; whoever has more dead
// letters than that has another problem.
const listed = 200

func (s *OperatorRoutes) ListProjections(ctx context.Context, _ api.ListProjectionsRequestObject) (api.ListProjectionsResponseObject, error) {
	statuses, err := s.Projections.Statuses(ctx)
	if err != nil {
		return nil, err
	}
	items := wire.List(statuses, func(p projections.Status) api.Projection {
		return api.Projection{
			Name: p.Name, Logs: wire.Strings(p.Logs), Status: p.Status, Position: p.Position, HeadPosition: p.HeadPosition, LagEvents: p.LagEvents, AheadEvents: p.AheadEvents,
			LagSeconds: float32(p.LagSeconds), Parked: p.Parked, LastError: wire.Optional(p.LastError), UpdatedAt: wire.UTC(&p.UpdatedAt),
		}
	})
	return api.ListProjections200JSONResponse{Items: items}, nil
}

func (s *OperatorRoutes) RebuildProjection(ctx context.Context, r api.RebuildProjectionRequestObject) (api.RebuildProjectionResponseObject, error) {
	if err := s.Projections.RequestRebuild(ctx, r.Name, projections.RebuildOptions{}); err != nil {
		return nil, projectionProblem(err)
	}
	if err := s.record(ctx, accounts.RebuildRequested, "projection "+r.Name); err != nil {
		return nil, err
	}
	return api.RebuildProjection202JSONResponse{Name: r.Name, Status: "rebuilding"}, nil
}

func projectionProblem(err error) error {
	var (
		unknown *projections.UnknownProjectionError
		running *projections.RebuildInProgressError
	)
	switch {
	case errors.As(err, &unknown):
		return &wire.Problem{Code: "not_found", Detail: "No projection of that name exists."}
	case errors.As(err, &running):
		return &wire.Problem{Code: "rebuild_in_progress", Detail: running.Error() + "."}
	}
	return err
}

func (s *OperatorRoutes) GetProjectionDiff(ctx context.Context, r api.GetProjectionDiffRequestObject) (api.GetProjectionDiffResponseObject, error) {
	d, ok, err := s.Projections.Diff(ctx, r.Name)
	if err != nil {
		return nil, projectionProblem(err)
	}
	if !ok {
		return nil, &wire.Problem{Code: "not_found", Detail: r.Name + " was never rebuilt."}
	}
	shown := api.GetProjectionDiff200JSONResponse{Name: r.Name, Empty: d.Empty(), Positions: d.Positions}
	if shown.Positions == nil {
		shown.Positions = map[string]int64{}
	}
	shown.Tables = wire.List(d.Tables, func(t projections.TableDifference) api.TableDifference {
		return api.TableDifference{Table: t.Table, Rows: t.Rows, OnlyOld: t.OnlyOld, OnlyNew: t.OnlyNew, Different: t.Different}
	})
	return shown, nil
}

func (s *OperatorRoutes) ListJobs(ctx context.Context, _ api.ListJobsRequestObject) (api.ListJobsResponseObject, error) {
	organization := wire.Caller(ctx).Organization.ID
	rows, err := s.Jobs.List(ctx, organization, listed, jobs.Build)
	if err != nil {
		return nil, err
	}
	counts, err := s.Jobs.Counts(ctx, organization)
	if err != nil {
		return nil, err
	}
	items := wire.List(rows, func(j jobs.Row) api.Job {
		return api.Job{ReportId: j.Subject, Status: j.Status, Attempts: j.Attempts, WorkerId: wire.Optional(j.WorkerID), LeasedUntil: wire.UTC(j.LeasedUntil)}
	})
	builds := counts[jobs.Build]
	return api.ListJobs200JSONResponse{Items: items, Queued: int(builds.Queued), Building: int(builds.Running)}, nil
}

func (s *OperatorRoutes) ListDroppedEngines(ctx context.Context, _ api.ListDroppedEnginesRequestObject) (api.ListDroppedEnginesResponseObject, error) {
	dropped, err := s.Drops.List(ctx, wire.Caller(ctx).Organization.ID)
	if err != nil {
		return nil, err
	}
	items := wire.List(dropped, func(d drops.DropCount) api.DroppedEngine {
		return api.DroppedEngine{Tile: d.Tile, Engine: string(d.Engine), Drops: d.Drops, LastAt: d.LastAt.UTC(), LastError: d.LastError}
	})
	return api.ListDroppedEngines200JSONResponse{Items: items}, nil
}

func (s *OperatorRoutes) ListFallenLoops(ctx context.Context, _ api.ListFallenLoopsRequestObject) (api.ListFallenLoopsResponseObject, error) {
	fallen, err := s.Falls.List(ctx)
	if err != nil {
		return nil, err
	}
	items := wire.List(fallen, func(f falls.Fall) api.FallenLoop {
		return api.FallenLoop{Loop: f.Loop, Process: f.Process, Falls: f.Falls, LastAt: f.LastAt.UTC(), InTrouble: f.InTrouble}
	})
	return api.ListFallenLoops200JSONResponse{Items: items}, nil
}

// ListEventLogs says how far the logs are verified, and where the first event is that does not fit.
func (s *OperatorRoutes) ListEventLogs(ctx context.Context, _ api.ListEventLogsRequestObject) (api.ListEventLogsResponseObject, error) {
	verified, err := s.Logs.Verified(ctx)
	if err != nil {
		return nil, err
	}
	items := wire.List(verified, func(v checkpoint.Verified) api.EventLog {
		log := api.EventLog{
			Log: string(v.Log), Position: v.Position, HeadPosition: v.Head, Misfits: len(v.Findings),
			VerifiedSince: s.Now().Add(-time.Duration(v.Age * float64(time.Second))).UTC().Truncate(time.Second),
		}
		if len(v.Findings) > 0 {
			log.FirstMisfit = &v.Findings[0].First
		}
		return log
	})
	return api.ListEventLogs200JSONResponse{Items: items}, nil
}

// ListSenders says what each sender sent, and what became of it.
func (s *OperatorRoutes) ListSenders(ctx context.Context, _ api.ListSendersRequestObject) (api.ListSendersResponseObject, error) {
	counts, err := s.Senders.List(ctx, wire.Caller(ctx).Organization.ID)
	if err != nil {
		return nil, err
	}
	items := []api.SenderOfToken{}
	for n, c := range counts { // by token, sender and door
		if n == 0 || counts[n-1].Token != c.Token || counts[n-1].Sender != c.Sender {
			items = append(items, api.SenderOfToken{
				TokenId: c.Token, Token: wire.Optional(c.Called), Sender: wire.Optional(c.Sender), Doors: []string{}, Counts: []api.SenderCount{},
			})
		}
		to := &items[len(items)-1]
		if c.LastAt.After(to.LastAt) {
			to.LastAt = c.LastAt.UTC()
		}
		if len(to.Doors) == 0 || to.Doors[len(to.Doors)-1] != c.Door {
			to.Doors = append(to.Doors, c.Door)
		}
		to.Counts = append(to.Counts, api.SenderCount{Door: c.Door, Name: c.Name, Reason: wire.Optional(string(c.Reason)), Count: c.N})
	}
	return api.ListSenders200JSONResponse{Items: items}, nil
}

// ListBudgets says what the organization's senders may use, and what they used.
func (s *OperatorRoutes) ListBudgets(ctx context.Context, _ api.ListBudgetsRequestObject) (api.ListBudgetsResponseObject, error) {
	used, err := s.Budgets.List(ctx, wire.Caller(ctx).Organization.ID)
	if err != nil {
		return nil, err
	}
	items := wire.List(used, func(u budgets.Use) api.Budget {
		b := api.Budget{Name: string(u.Name), Limit: u.Limit, Used: u.Used, TokenLimit: u.TokenLimit}
		if !u.ResetAt.IsZero() {
			b.ResetAt = wire.UTC(&u.ResetAt)
		}
		b.Tokens = wire.List(u.Tokens, func(t budgets.TokenUse) api.BudgetOfToken {
			return api.BudgetOfToken{TokenId: t.Token, Token: wire.Optional(t.Called), Used: t.Used, Limit: u.TokenLimit}
		})
		return b
	})
	return api.ListBudgets200JSONResponse{Items: items}, nil
}

// Dead letters are of two sorts with ids of one form: events that a projection
// could not apply, and jobs that used up their attempts.

func (s *OperatorRoutes) ListDeadLetters(ctx context.Context, _ api.ListDeadLettersRequestObject) (api.ListDeadLettersResponseObject, error) {
	organization := wire.Caller(ctx).Organization.ID
	letters, err := s.DeadLetters.List(ctx, organization, uuid.Nil, listed)
	if err != nil {
		return nil, err
	}
	dead, err := s.Jobs.Dead(ctx, organization, listed)
	if err != nil {
		return nil, err
	}
	items := wire.List(letters, func(l topic.Letter) api.DeadLetter {
		return api.DeadLetter{Id: l.ID, Kind: "event", Source: l.Handler, Subject: l.Stream, Error: l.Error,
			Attempts: l.Attempts, Waiting: l.Waiting, At: wire.UTC(&l.ParkedAt), Endings: []api.JobEnding{}}
	})
	for _, j := range dead {
		items = append(items, api.DeadLetter{Id: j.ID, Kind: "job", Source: string(j.Kind), Subject: j.Subject, Error: j.LastError,
			Attempts: j.Attempts, At: wire.UTC(j.DeadAt), Endings: endings(j)})
	}
	return api.ListDeadLetters200JSONResponse{Items: items}, nil
}

func endings(j jobs.Row) []api.JobEnding {
	return wire.List(j.Endings, func(e jobs.Ending) api.JobEnding {
		return api.JobEnding{Attempt: e.Attempt, At: e.At.UTC(), WorkerId: e.Worker, How: e.How, Class: e.Class, Error: e.Error}
	})
}

func (s *OperatorRoutes) RetryDeadLetter(ctx context.Context, r api.RetryDeadLetterRequestObject) (api.RetryDeadLetterResponseObject, error) {
	replay, err := s.settleDead(ctx, r.DeadLetterId, accounts.DeadLetterRetried, s.DeadLetters.Retry, s.Commands.RetryJob)
	if err != nil {
		return nil, err
	}
	if replay.Error != "" {
		return nil, &wire.Problem{Code: "invalid_state", Detail: fmt.Sprintf("The retry failed: %s. Events that wait behind it: %d.", replay.Error, replay.Waiting)}
	}
	return api.RetryDeadLetter202Response{}, nil
}

func (s *OperatorRoutes) DropDeadLetter(ctx context.Context, r api.DropDeadLetterRequestObject) (api.DropDeadLetterResponseObject, error) {
	_, err := s.settleDead(ctx, r.DeadLetterId, accounts.DeadLetterDropped, s.DeadLetters.Drop, s.Jobs.Drop)
	return api.DropDeadLetter204Response{}, err
}

// settleDead does it to the event, or else to the job, and writes it into the security log.
func (s *OperatorRoutes) settleDead(ctx context.Context, id uuid.UUID, entryType string,
	event func(context.Context, uuid.UUID, uuid.UUID) (topic.Replay, error), job func(context.Context, uuid.UUID, uuid.UUID) error,
) (topic.Replay, error) {
	replay, err := event(ctx, wire.Caller(ctx).Organization.ID, id)
	if errors.Is(err, topic.ErrNoLetter) {
		err = job(ctx, wire.Caller(ctx).Organization.ID, id)
	}
	var alive *jobs.NotDeadError
	if errors.As(err, &alive) {
		err = wire.NotFound("dead letter")
	}
	if err != nil {
		return replay, err
	}
	return replay, s.record(ctx, entryType, id.String())
}

func (s *OperatorRoutes) ListOutbox(ctx context.Context, _ api.ListOutboxRequestObject) (api.ListOutboxResponseObject, error) {
	if s.Outbox == nil { // mails go to a server
		return api.ListOutbox200JSONResponse{Items: []api.OutboxEntry{}}, nil
	}
	mails, err := s.Outbox.List(wire.Caller(ctx).Organization.ID, listed)
	if err != nil {
		return nil, err
	}
	items := wire.List(mails, func(m mail.OutboxMail) api.OutboxEntry {
		return api.OutboxEntry{Id: m.ID, To: m.To, Subject: m.Subject, CreatedAt: m.At.UTC(), SizeBytes: m.Size}
	})
	return api.ListOutbox200JSONResponse{Items: items}, nil
}

func (s *OperatorRoutes) GetOutboxMail(ctx context.Context, r api.GetOutboxMailRequestObject) (api.GetOutboxMailResponseObject, error) {
	if s.Outbox == nil {
		return nil, wire.NotFound("mail")
	}
	found, ok, err := s.Outbox.Open(wire.Caller(ctx).Organization.ID, r.MailId)
	if err := wire.Found(ok, err, "mail"); err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }()
	raw, err := io.ReadAll(found)
	if err != nil {
		return nil, fmt.Errorf("read a mail of the outbox: %w", err)
	}
	return api.GetOutboxMail200JSONResponse{Id: r.MailId, Raw: string(raw)}, nil
}

// record writes into the security log what the caller has done that is no event.
func (s *OperatorRoutes) record(ctx context.Context, entryType, detail string) error {
	who := wire.Caller(ctx)
	return s.Accounts.RecordSecurity(ctx, wire.Client(ctx).Entry(who.Organization.ID, who.Member.ID, entryType, detail))
}

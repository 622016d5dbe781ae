package httpapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5/pgconn"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/report"
	"muster/domain/rule"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/files/blobs"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/intake"
	"muster/internal/intake/budgets"
	"muster/internal/measurements"
	"muster/internal/measurements/blocks"
	"muster/internal/postgres"
	"muster/internal/postgres/statement"
)

// toProblem says in the contract's words what went wrong. What it does not
// know is ours: it is logged here, once, and told as internal_error or, where
// the database is away, as unavailable.
func (s *server) toProblem(ctx context.Context, err error) *wire.Problem {
	if p, ok := wire.AsProblem(err); ok {
		return p
	}
	if p := s.refusalProblem(err); p != nil {
		return p
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return &wire.Problem{Code: "unavailable", Detail: "The request was cancelled."}
	}
	if away := absence(err); away != "" {
		s.Log.WarnContext(ctx, "request failed", "error", err)
		if away == databaseAway {
			away += " A change may have been saved before the connection was lost."
		}
		return &wire.Problem{Code: "unavailable", Detail: away + " Try again."}
	}
	s.Log.ErrorContext(ctx, "request failed", "error", err)
	return &wire.Problem{Code: "internal_error", Detail: wire.InternalDetail}
}

// explain says why side figures are missing in an answer that stands without them.
func (s *server) explain(ctx context.Context, figures []string, err error) (code, sentence string) {
	if old := (*measurements.NotKeptError)(nil); errors.As(err, &old) {
		return "detail_not_kept", wire.Sentence(old.Error())
	}
	level, code, sentence := slog.LevelError, "internal_error", "It could not be read; the log has the reason under this request id."
	if away := absence(err); away != "" {
		level, code, sentence = slog.LevelWarn, "unavailable", away
		if away == databaseLate || away == late {
			sentence = "It could not be read in time."
		}
	}
	if !errors.Is(ctx.Err(), context.Canceled) {
		s.Log.Log(ctx, level, "answering without side figures", "figures", strings.Join(figures, " "), "error", err)
	}
	return code, sentence
}

// databaseAway is told where PostgreSQL is away, or others keep it from answering, and
// databaseLate where it does not answer in time.
const (
	databaseAway = "The database is not available or too busy."
	databaseLate = "The database did not answer in time, or does not commit. A change may have been saved."
	// late is told where the time was over, and it was not the database that took it.
	late = "The answer took longer than a request may take. A change may have been saved."
)

// absence says what is away, where that is the error; else it is empty.
func absence(err error) string {
	var (
		measured   *blocks.UnavailableError
		files      *blobs.UnavailableError
		recovering *measurements.RecoveringError
		sql        *statement.Error
		network    net.Error
	)
	switch {
	case errors.As(err, &measured): // before what it wraps is taken for the database's
		return "A server that older measurements are kept on is not responding; the log names it under this request id. Nothing is lost."
	case errors.As(err, &files):
		return "The place where report files are kept is not responding; the log names the reason under this request id. Nothing is lost."
	case errors.As(err, &recovering):
		return "The database crashed, and what has been measured in the last hours is being added up again, which takes seconds. Nothing is lost."
	case errors.Is(err, context.DeadlineExceeded):
		if errors.As(err, &sql) || pgconn.Timeout(err) {
			return databaseLate
		}
		return late
	case isUnavailable(err):
		return databaseAway
	case errors.As(err, &network):
		return "A service that this request needs is not responding; the server's log names it under this request id."
	}
	return ""
}

// refusalProblem translates what commands, accounts and the doors of intake refuse.
func (s *server) refusalProblem(err error) *wire.Problem {
	var (
		rule     *usecase.RuleError
		missing  *usecase.NotFoundError
		refusal  *accounts.Refusal
		movement *report.TransitionError
		final    *commands.ReportFinalError
		no       *intake.UnreadableError
		lagging  *intake.LaggingError
		gone     *measurements.DeletedError
		used     *budgets.ExhaustedError
	)
	switch {
	case errors.As(err, &used):
		return exhausted(used, s.Now())
	case accounts.IsDeleted(err), errors.As(err, &gone): // since the request began
		return &wire.Problem{Code: accounts.CodeUnauthenticated, Detail: "Unknown token."}
	case errors.As(err, &rule):
		return &wire.Problem{Code: rule.Code, Detail: rule.Detail, Fields: ruleFields(rule.Fields), RetryAfter: rule.RetryAfter}
	case errors.As(err, &missing):
		return &wire.Problem{Code: "not_found", Detail: "No such " + missing.What + " is known in this organization."}
	case errors.As(err, &refusal):
		return &wire.Problem{Code: refusal.Code, Detail: wire.Sentence(refusal.Detail), RetryAfter: refusal.RetryAfter}
	case errors.As(err, &movement):
		return &wire.Problem{Code: "invalid_state", Detail: movement.Error()}
	case errors.As(err, &no):
		return wire.Unreadable([]api.FieldError{{In: api.Body, Pointer: &no.Pointer, Code: "invalid_parameter", Detail: no.Detail}})
	case errors.As(err, &lagging):
		return &wire.Problem{Code: "unavailable", Detail: "Some instances or databases in this call are not known yet: the latest registrations are still being processed. Nothing was stored; send the call again."}
	case errors.As(err, &final):
		return &wire.Problem{Code: "report_is_final", Detail: "The report is " + string(final.Status) + ", so building it again would change nothing. Request the report again instead."}
	}
	return nil
}

// alertsRetry is when to try again while too many alerts are open: nobody knows when some are
// resolved.
const alertsRetry = time.Minute

// exhausted says which budget is used up, and when there is room again.
func exhausted(e *budgets.ExhaustedError, now time.Time) *wire.Problem {
	p := &wire.Problem{Code: "budget_exhausted", RetryAfter: alertsRetry, Budget: &api.ExhaustedBudget{
		Name: string(e.Name), Of: "organization", Limit: e.Limit, Used: e.Used,
	}}
	whose := "The organization"
	if e.OfToken {
		whose, p.Budget.Of = "This token", "token"
	}
	what := map[budgets.Name]string{budgets.Bytes: "bytes today", budgets.Events: "events today", budgets.OpenAlerts: "open alerts"}[e.Name]
	p.Detail = fmt.Sprintf("%s has used %d of its %d %s, and the call would exceed that. Nothing of this call was stored.", whose, e.Used, e.Limit, what)
	if e.ResetAt.IsZero() {
		p.Detail += " There is room again when alerts are resolved; a call that resolves at least as many as it raises is taken."
		return p
	}
	p.RetryAfter, p.Budget.ResetAt = max(time.Second, e.ResetAt.Sub(now)), wire.UTC(&e.ResetAt)
	p.Detail += " The budget restarts at " + e.ResetAt.UTC().Format(time.RFC3339) + "."
	return p
}

func ruleFields(rules []rule.Broken) []api.FieldError {
	var out []api.FieldError
	for _, f := range rules {
		field := api.FieldError{In: api.Body, Pointer: &f.Pointer, Code: f.Code, Detail: f.Detail}
		if len(f.Params) > 0 {
			field.Params = &f.Params
		}
		out = append(out, field)
	}
	return out
}

// busy are SQLSTATEs of a database that others keep from answering: too many
// connections, a lock not got in time, a transaction ended because it idled, a
// deadlock, a serialization failure. Commands have tried again before these get here. And of
// one that has no room left on its disk or in memory, or whose disk fails.
var busy = []string{"53300", "55P03", "25P03", "40P01", "40001", "53100", "53200", "58030"}

// isUnavailable recognises a database that is away, or busy with others: worth
// trying again.
func isUnavailable(err error) bool {
	var (
		conflict *eventstore.ConflictError
		server   *pgconn.PgError
	)
	return postgres.Away(err) || errors.As(err, &conflict) || errors.As(err, &server) && slices.Contains(busy, server.Code)
}

func (s *server) fail(c *gin.Context, err error) {
	if c.Writer.Written() {
		return
	}
	p := s.toProblem(c, err)
	s.tellUsedUp(wire.CallOf(c), p)
	if p.Budget != nil {
		s.Refused(c)
	}
	p.Write(c.Writer, c.Request)
}

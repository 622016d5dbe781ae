package wire

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/projections"
)

// Call is what the server knows about one request beside the request itself.
// The outermost layer makes it, the gate fills it, handlers read it.
type Call struct {
	RequestID string
	Route     string // the pattern of its path; empty where no route takes it
	Operation string // its id in openapi.yaml; empty where it is none
	BodyLimit int64  // what its body may have, in bytes
	Problem   string // code of the answer, where that is a problem
	IP        string
	UserAgent string
	Request   *http.Request
	Header    http.Header // of the answer
	TakesGzip bool        // the caller does
	Principal *accounts.Principal
	Token     string    // the session token of the cookie, where that let the caller in
	Made      uuid.UUID // the id of what the request makes where it may be sent again; else uuid.Nil
	Body      []byte    // unpacked, of a request that has one
	Unpacked  int64     // bytes of its body that were unpacked, whether they could be read or not
	Leave     []func()  // what the caller holds until the answer is made

	// Explain says why side figures are missing in the answer (Side); it logs the error.
	Explain func(ctx context.Context, figures []string, err error) (code, sentence string)

	// Teams reads the teams of the caller's organization, the first time that it is called.
	Teams func(ctx context.Context) ([]accounts.Team, error)

	Began    time.Time     // when the gate got it
	Patience time.Duration // bounds what the request writes; see Writing
}

// End gives back what the caller held.
func (c *Call) End() {
	c.Body = nil
	for _, leave := range c.Leave {
		leave()
	}
}

// CallKey is where a request's context has its Call.
type CallKey struct{}

// CallOf is what the server knows about the request of a context.
func CallOf(ctx context.Context) *Call {
	c, _ := ctx.Value(CallKey{}).(*Call)
	return c
}

// Caller is who makes the request. The gate has let them in: a route that
// anyone may call does not ask.
func Caller(ctx context.Context) accounts.Principal {
	return *CallOf(ctx).Principal
}

// Actor is the caller as the use cases know them.
func Actor(ctx context.Context) usecase.Actor {
	c := CallOf(ctx)
	a := usecase.Actor{OrganizationID: c.Principal.Organization.ID, MemberID: c.Principal.Member.ID, RequestID: c.RequestID}
	a.World = c.Principal.World
	a.Administers = c.Principal.Can(organization.ScopeAdmin)
	switch c.Principal.Method {
	case accounts.MethodToken:
		a.Token = c.Principal.ID
	case accounts.MethodIngest:
		a.Token = c.Principal.ID
		a.Component, a.Limit = "ingest", c.Principal.InstanceIDs
	}
	return a
}

// Client is where the request comes from.
func Client(ctx context.Context) accounts.Client {
	c := CallOf(ctx)
	return accounts.Client{IP: c.IP, UserAgent: c.UserAgent, RequestID: c.RequestID}
}

// MarkDemo says in the answer that what it shows is made up.
func (c *Call) MarkDemo(o accounts.Organization) {
	if o.Demo {
		c.Header.Set("X-Demo-Data", "true")
	}
}

// Settle waits until what was written shows in every list, and says so in the
// answer where it does not yet.
func Settle(ctx context.Context, lists projections.Waiter, written usecase.Mark) {
	if written.Position > 0 && !lists.Wait(ctx, written.Log, written.Position) {
		CallOf(ctx).Header.Set("X-Muster-Lagging", "true")
	}
}

// MemberNames looks members of the caller's organization up; whoever left stays an
// id with an empty name.
func MemberNames(ctx context.Context, people *accounts.Store, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return people.Names(ctx, Caller(ctx).Organization.ID, slices.Compact(ids))
}

// noteTimeout bounds the wait for an entry of the security log that a refusal leaves.
const noteTimeout = 2 * time.Second

// NoteOnce writes into the security log, once an hour. That it cannot must not turn a
// refusal into a failure, nor into a wait.
func NoteOnce(ctx context.Context, people *accounts.Store, log *slog.Logger, e accounts.SecurityEntry) {
	ctx, cancel := context.WithTimeout(ctx, noteTimeout)
	defer cancel()
	e.Once = true
	if err := people.RecordSecurity(ctx, e); err != nil && !errors.Is(err, context.Canceled) {
		log.WarnContext(ctx, "security log", "error", err)
	}
}

const (
	// RequestTimeout ends a request whose database does not answer, as unavailable.
	RequestTimeout = 30 * time.Second
	// WriteTimeout does so with one that writes, from the arrival of a body of /ingest on:
	// what a use of an idempotency key still has to write then takes four seconds more at
	// most, so that each is answered within 15 (docs/operators.md).
	WriteTimeout = 11 * time.Second
)

// answerShare is which part of its time a request keeps for writing down what others answered.
const answerShare = 4

// Asking bounds what a request asks of others, as a mail server or a receiver: so early that
// what came of it is written down within the request's time. It does not end with the caller,
// who may have left.
func Asking(ctx context.Context) (context.Context, context.CancelFunc) {
	return apart(ctx, CallOf(ctx).Patience/answerShare)
}

// Noting bounds what a request writes down of what others answered: the time of the request,
// whether or not the caller left.
func Noting(ctx context.Context) (context.Context, context.CancelFunc) { return apart(ctx, 0) }

// apart is ctx without the caller, until so long before the request's time is over.
func apart(ctx context.Context, before time.Duration) (context.Context, context.CancelFunc) {
	call := CallOf(ctx)
	return context.WithDeadline(context.WithoutCancel(ctx), call.Began.Add(call.Patience-before))
}

// Writing bounds what a request writes that is not bounded itself, because its answer is a
// file.
func Writing(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, CallOf(ctx).Patience)
}

package httpapi

import (
	"context"
	"crypto/rand"
	"net/http"
	"regexp"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"muster/commands"
	"muster/internal/accounts"
)

// call is what the server knows about one request beside the request itself.
// The outermost layer makes it, the gate fills it, handlers read it.
type call struct {
	requestID string
	row       *route // nil where no route takes it
	problem   string // code of the answer, where that is a problem
	ip        string
	agent     string
	request   *http.Request
	header    http.Header // of the answer
	takesGzip bool        // the caller does
	principal *accounts.Principal
	token     string    // the session token of the cookie, where that let the caller in
	made      uuid.UUID // the id of what the request makes where it may be sent again; else uuid.Nil
	body      []byte    // unpacked, of a request that has one
	leave     []func()  // what the caller holds until the answer is made
}

// end gives back what the caller held.
func (c *call) end() {
	for _, leave := range c.leave {
		leave()
	}
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// caller is who makes the request. The gate has let them in: a route that
// anyone may call does not ask.
func caller(ctx context.Context) accounts.Principal {
	return *callOf(ctx).principal
}

// actor is the caller as the use cases know them.
func actor(ctx context.Context) commands.Actor {
	c := callOf(ctx)
	a := commands.Actor{OrganizationID: c.principal.Organization.ID, MemberID: c.principal.Member.ID, RequestID: c.requestID}
	if c.principal.Method == accounts.MethodIngest {
		a.Component, a.InstanceIDs = "ingest", c.principal.InstanceIDs
	}
	return a
}

// client is where the request comes from.
func client(ctx context.Context) accounts.Client {
	c := callOf(ctx)
	return accounts.Client{IP: c.ip, UserAgent: c.agent, RequestID: c.requestID}
}

var requestIDForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// requestID takes the caller's id for the request where it has the form, or the
// id of the trace that the request is part of, so that a chain of services
// shares one; otherwise it makes one.
func requestID(r *http.Request, part trace.SpanContext) string {
	if id := r.Header.Get("X-Request-Id"); requestIDForm.MatchString(id) {
		return id
	}
	if part.HasTraceID() {
		return part.TraceID().String()
	}
	return rand.Text()[:16]
}

// markDemo says in the answer that what it shows is made up.
func (c *call) markDemo(o accounts.Organization) {
	if o.Demo {
		c.header.Set("X-Demo-Data", "true")
	}
}

// settle waits until what was written shows in every list, and says so in the
// answer where it does not yet.
func (s *server) settle(ctx context.Context, marks ...commands.Mark) {
	for _, m := range marks {
		if m.Position > 0 && !s.Waiter.Wait(ctx, m.Log, m.Position) {
			callOf(ctx).header.Set("X-Muster-Lagging", "true")
		}
	}
}

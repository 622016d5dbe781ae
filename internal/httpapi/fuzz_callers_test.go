package httpapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/commands/alerting"
	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/httpapi/contract"
	"muster/internal/operate/demo"
)

// fuzzCaller is who sends a request. One whose credential no longer works is
// replaced: a request may well sign its sender out, or erase them.
type fuzzCaller struct {
	name    string
	cookie  string
	token   string
	person  person
	scopes  []organization.Scope // of the token
	renewed func() fuzzCaller    // nil: whatever becomes of them is right
}

// may says that the route lets them in.
func (c fuzzCaller) may(r *contract.Route) bool {
	switch {
	case r.Open():
		return true
	case c.renewed == nil:
		return false
	case r.IsIngest():
		return strings.HasPrefix(c.token, "mst_ing_")
	case c.token == "":
		return slices.Contains(r.Roles, c.person.Role)
	}
	return slices.Contains(r.Roles, c.person.Role) && (slices.Contains(c.scopes, organization.ScopeAdmin) ||
		slices.ContainsFunc(r.Scopes, func(s organization.Scope) bool { return slices.Contains(c.scopes, s) }))
}

// fill gives both organizations something to find: the one that requests come
// from is the demo's.
func (f *fuzzer) fill() {
	f.t.Helper()
	ctx := context.Background()
	f.ours, f.theirs = f.theirs, f.ours // theirs is marked as a demo
	filler := &demo.Demo{
		DB: f.deps.DB, Commands: f.deps.Commands, Accounts: f.deps.Accounts, Facts: f.deps.Servers, Now: f.clock.Now,
		Wait: func(ctx context.Context, m usecase.Mark) bool { return f.deps.Waiter.Wait(ctx, m.Log, m.Position) },
	}
	must(f.t, filler.Fill(ctx, f.ours.organization))
	for range 2 {
		f.ready(f.ours, f.requested(f.ours, f.ours.member), pdfText)
		f.failed(f.ours, f.requested(f.ours, f.ours.member))
	}
	for i, state := range alert.States() { // one of each for every action
		item := alerting.Item{ExternalID: fmt.Sprint("fuzz-", i), CreatedAt: f.ago(time.Hour), State: state}
		if state.Closed() {
			item.ResolvedAt = to(f.ago(time.Minute))
		}
		f.raised(f.ours, item)
	}
	f.fed(f.ours, inventory.Item{ExternalID: "pg-orders-01", CreatedAt: f.ago(day), Databases: []inventory.Database{database("orders", f.ago(day))}}) // of the examples
	f.measuredNow(f.ours, f.instance(f.ours, "measured"), uuid.New())
	f.measuredNow(f.theirs, f.instance(f.theirs, hidden), uuid.New())
	f.raised(f.theirs, alerting.Item{ExternalID: hidden, CreatedAt: f.ago(time.Hour)})
	f.ready(f.theirs, f.requested(f.theirs, f.theirs.member), pdfText)
	f.before = f.theirEvents()

	role := func(name string, r organization.Role) fuzzCaller {
		var c fuzzCaller
		c.renewed = func() fuzzCaller {
			p := f.person(f.ours.organization, r, fmt.Sprintf("%s-%s@fuzz.example", name, uuid.NewString()[:8]))
			return fuzzCaller{name: name, cookie: p.session, person: p, renewed: c.renewed}
		}
		return c.renewed()
	}
	token := func(name string, r organization.Role, scopes ...organization.Scope) fuzzCaller {
		var c fuzzCaller
		c.renewed = func() fuzzCaller {
			p := f.person(f.ours.organization, r, fmt.Sprintf("%s-%s@fuzz.example", name, uuid.NewString()[:8]))
			return fuzzCaller{name: name, token: f.token(p, scopes...), scopes: scopes, person: p, renewed: c.renewed}
		}
		return c.renewed()
	}
	var ingesting fuzzCaller
	ingesting.renewed = func() fuzzCaller {
		p := f.person(f.ours.organization, organization.Admin, fmt.Sprintf("feeder-%s@fuzz.example", uuid.NewString()[:8]))
		return fuzzCaller{name: "ingest-token", token: f.ingestToken(p), person: p, renewed: ingesting.renewed}
	}
	admin := role("admin", organization.Admin)
	f.callers = []fuzzCaller{
		{name: "nobody"}, {name: "junk", token: "mst_pat_" + strings.Repeat("0", 36)}, {name: "junk-cookie", cookie: "x"},
		role("viewer", organization.Viewer), role("member", organization.Member), role("auditor", organization.Auditor),
		admin, admin, // most of what there is to break is theirs
		token("admin-token", organization.Admin, organization.ScopeAdmin),
		token("member-token", organization.Member, organization.ScopeReportsCreate, organization.ScopeReportsDownload),
		token("reader-token", organization.Admin, organization.ScopeReportsRead),
		ingesting.renewed(),
	}
}

// refresh replaces callers who no longer get in, and looks again at what there is.
func (f *fuzzer) refresh() {
	f.t.Helper()
	f.clock.Advance(10 * time.Second) // so that nobody uses up their quota
	ctx := context.Background()
	for i, c := range f.callers {
		if c.renewed == nil {
			continue
		}
		var err error
		if c.token != "" {
			_, err = f.deps.Accounts.TokenPrincipal(ctx, c.token, "")
		} else {
			var p accounts.Principal
			if p, err = f.deps.Accounts.SessionPrincipal(ctx, c.cookie); err == nil && p.Member.Role != c.person.Role {
				err = errors.New("another role")
			}
		}
		if err != nil {
			f.callers[i] = c.renewed()
		}
	}
	f.subjects = f.look()
}

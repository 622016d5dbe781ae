package pageaddress

import (
	"net/url"
	"regexp"
	"strings"
)

// The pages that mails, messages, reports, commands and answers to assistants link to.
const (
	Dashboard    = "/"
	Alerts       = "/alerts"
	Alert        = "/alerts/:alertId"
	Activity     = "/activity"
	Statements   = "/statements"
	Statement    = "/statements/:statementId"
	Blocking     = "/blocking"
	Episode      = "/blocking/:episodeId"
	Reports      = "/reports/history"
	Finding      = "/findings/:findingId"
	Check        = "/checks/:checkId"
	Instances    = "/instances"
	Report       = "/reports/:reportId"
	Schedule     = "/schedules/:scheduleId"
	Exports      = "/exports"
	Instance     = "/instances/:instanceId"
	Findings     = "/findings"
	Setup        = "/setup"
	Invitation   = "/invitation"
	ConfirmAlert = "/addresses/confirm"
	LeaveAlerts  = "/addresses/leave"
)

// All returns the address of every page, with :names for ids (contract §17).
func All() []string {
	return []string{
		Dashboard,
		Alerts, Alert,
		"/watch-rules", "/watch-rules/:watchRule", "/maintenance-windows", "/objectives",
		Activity,
		Statements, Statement, Blocking, Episode,
		"/reports", "/reports/view", "/reports/preview/:card", Reports, "/reports/verify", Report,
		"/schedules", "/schedules/new", Schedule,
		Exports,
		Instances, "/instances/new", "/instances/connect", Instance,
		Findings,
		Finding,
		"/checks",
		Check,
		"/exceptions",
		"/settings/members", "/settings/tokens", "/settings/assistants", "/settings/organization", "/settings/account",
		"/teams",
		"/notifications/rules", "/notifications/rules/new", "/notifications/rules/:ruleId",
		"/notifications/channels", "/notifications/deliveries", "/notifications/deliveries/:deliveryId",
		"/audit",
		"/ops/projections", "/ops/jobs", "/ops/senders", "/ops/dead-letters", "/ops/outbox",
		Setup, Invitation, ConfirmAlert, LeaveAlerts, "/login", "/signin", "/sign-in",
	}
}

// Link returns the link to a page of the installation at publicURL, with ids in the places of
// the address's names, in their order.
func Link(publicURL, address string, ids ...string) string {
	parts := strings.Split(address, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, ":") && len(ids) > 0 {
			parts[i], ids = ids[0], ids[1:]
		}
	}
	return strings.TrimRight(publicURL, "/") + strings.Join(parts, "/")
}

// id is what stands in the place of a name: never "..", which a browser would follow.
var id = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// Is reports whether an address leads to a page of this installation: the path of one with ids, and a search or none.
// It has no host, no fragment and nothing that a browser would read otherwise.
func Is(address string) bool {
	path, search, _ := strings.Cut(address, "?")
	if _, err := url.ParseQuery(search); err != nil || strings.ContainsAny(search, "#\\ ") {
		return false
	}
	for _, page := range All() {
		if fits(strings.Split(path, "/"), strings.Split(page, "/")) {
			return true
		}
	}
	return false
}

func fits(path, page []string) bool {
	if len(path) != len(page) {
		return false
	}
	for i, part := range page {
		if name := strings.HasPrefix(part, ":"); name && !id.MatchString(path[i]) || !name && path[i] != part {
			return false
		}
	}
	return true
}

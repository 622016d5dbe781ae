package assistant

import "muster/internal/text/pageaddress"

// tool is a capability that assistants can use. It reads one operation of the API, or one of
// several that an argument chooses.
type tool struct {
	name, title, about string

	operation string   // of openapi.yaml; empty: choice chooses
	choice    string   // the argument that chooses
	choices   []choice // in the order in which they are shown
	beside    []beside // further operations with the same filter
	without   []string // parameters that are not an assistant's
	page      string   // its address in pageaddress, with the names of arguments
	search    []string // arguments that the page takes, too
	figures   map[string]string
}

// choice is a value of an argument and the operation that it stands for.
type choice struct{ value, operation string }

// beside is an operation that is read together with the tool's own.
type beside struct {
	name, operation string
	with            map[string]string // its parameters, beside the filter
}

// Filters and windows that pages take.
var (
	filter = []string{"instanceId", "tag", "owner"}
	window = append([]string{"from", "to"}, filter...)
)

// tools are all tools, in the order in which assistants see them.
var tools = []tool{
	{
		name: "fleet_overview", title: "Fleet overview", operation: "getOverview",
		about: "Counts servers by state (up, down, silent, unknown, inactive), databases, open alerts and overdue findings, each " +
			"beside the count seven days earlier, and lists the 20 servers with the most alerts. Start here.",
		beside: []beside{
			{"servers", "listInstances", map[string]string{"sort": "-alerts", "pageSize": "20"}},
			{"connections", "getConnections", nil},
		},
		page: pageaddress.Dashboard, search: filter,
		figures: map[string]string{"instances": "servers", "databases": "databases", "alerts": "open alerts that are not muted", "total": "sessions"},
	},
	{
		name: "list_servers", title: "Servers", operation: "listInstances", without: []string{"id", "mayAct"},
		about: "Lists servers with their state, since when, the reason, owner, tags, score and open alerts. " +
			"Use it to find the id of a server.",
		page: pageaddress.Instances, search: []string{"q", "engine", "status", "tag", "owner", "sort", "page", "pageSize"},
		figures: map[string]string{"databaseCount": "databases", "score": "points of 100"},
	},
	{
		name: "get_server", title: "One server",
		about: "Returns one part of what is known about a server: its state, its score, replication, backups, capacity, " +
			"maintenance, databases, or the outage that is open now.",
		choice: "part", choices: []choice{
			{"state", "getInstance"}, {"score", "getInstanceHealth"}, {"replication", "getReplication"}, {"backups", "getBackups"},
			{"capacity", "getCapacity"}, {"maintenance", "getMaintenance"}, {"databases", "listDatabases"}, {"outage", "getOutage"},
		},
		page: pageaddress.Instance, search: []string{"from", "to"},
		figures: map[string]string{"score": "points of 100"},
	},
	{
		name: "read_metric", title: "A figure over time",
		about: "Returns a figure over time in equal buckets. A null is a time in which nothing was measured; it is not zero. " +
			"Connections are of this moment.",
		choice: "metric", choices: []choice{
			{"utilization", "getUtilization"}, {"query_performance", "getQueryPerformance"}, {"wait_events", "getWaitEvents"},
			{"alert_history", "getAlertHistory"}, {"deadlocks", "getDeadlocks"}, {"connections", "getConnections"},
		},
		without: []string{"instanceName"},
		page:    pageaddress.Dashboard, search: window,
		figures: map[string]string{
			"locks": "average waiting sessions", "lightweightLocks": "average waiting sessions", "io": "average waiting sessions",
			"clientNetwork": "average waiting sessions", "other": "average waiting sessions, or connections", "active": "alerts, or connections",
			"resolved": "alerts", "total": "connections", "count": "deadlocks",
		},
	},
	{
		name: "who_is_behind", title: "Who is behind a figure",
		about: "Splits a figure of the dashboard into the servers, databases, statements, users, hosts or alerts that make it up, " +
			"greatest first, with the sum of all others.",
		choice: "metric", choices: []choice{
			{"utilization", "listUtilizationContributors"}, {"query_performance", "listQueryPerformanceContributors"},
			{"wait_events", "listWaitEventsContributors"}, {"alert_history", "listAlertHistoryContributors"},
			{"connections", "listConnectionsContributors"},
		},
		page: pageaddress.Dashboard, search: window,
		figures: map[string]string{"value": "the unit that data.unit names", "share": "part of the total, 0 to 1"},
	},
	{
		name: "session_activity", title: "Session activity", operation: "getActivity",
		about: "Returns the average number of active sessions over time, split by wait class, wait event, statement, user, " +
			"application, client, database or server. Above the number of cores, sessions wait for a CPU.",
		page: pageaddress.Activity, search: append([]string{"by", "state", "user", "application", "client"}, window...),
		figures: map[string]string{"series": "average active sessions", "average": "average active sessions", "cores": "CPU cores"},
	},
	{
		name: "list_statements", title: "Statements", operation: "listStatements",
		about: "Lists the statements that the servers executed in a window, most expensive first, with calls, times, and the same " +
			"figures of the window before. Texts are null where the token may not see them.",
		page: pageaddress.Statements, search: append([]string{"databaseId", "q", "only", "sort", "page", "pageSize"}, window...),
		figures: map[string]string{"calls": "executions in the window", "share": "part of the total time, 0 to 1"},
	},
	{
		name: "get_statement", title: "One statement", operation: "getStatement",
		about: "Returns one statement with its figures over time.",
		page:  pageaddress.Statement, search: []string{"from", "to"},
		figures: map[string]string{"calls": "executions"},
	},
	{
		name: "list_blocking", title: "Blocking", operation: "listBlocking",
		about: "Lists episodes in which sessions waited for locks of others, newest first, each with the session at its root.",
		page:  pageaddress.Blocking, search: append([]string{"page"}, window...),
		figures: map[string]string{"maxBlocked": "sessions", "blockedSeconds": "session-seconds", "behind": "sessions"},
	},
	{
		name: "get_blocking", title: "One blocking episode", operation: "getBlocking",
		about: "Returns the tree of a blocking episode: who waits for whom, and for what.",
		page:  pageaddress.Episode, search: []string{"at"},
		figures: map[string]string{"maxBlocked": "sessions", "blockedSeconds": "session-seconds", "behind": "sessions"},
	},
	{
		name: "group_findings", title: "Findings by check or server", operation: "groupFindings",
		about: "Counts failed checks by check or by server, worst first. Use it before list_findings.",
		page:  pageaddress.Findings, search: append([]string{"databaseId", "severity", "domain", "checkId", "status", "overdue", "assigneeId", "q", "page", "pageSize"}, filter...),
		figures: map[string]string{"count": "findings"},
	},
	{
		name: "list_findings", title: "Findings", operation: "listFindings",
		about: "Lists the objects that fail a check, with severity, owner, first seen, due date and days overdue.",
		page:  pageaddress.Findings, search: append([]string{"databaseId", "severity", "domain", "checkId", "status", "overdue", "assigneeId", "q", "sort", "page", "pageSize"}, filter...),
	},
	{
		name: "get_finding", title: "One finding with its fix", operation: "getFinding",
		about: "Returns one finding with the statements that fix it, verify the fix and undo it. Muster never runs them: a person " +
			"decides and runs them.",
		page: pageaddress.Finding,
	},
	{
		name: "list_alerts", title: "Alerts", operation: "listAlerts", without: []string{"instanceName"},
		about: "Lists alerts, last triggered first. Without a window, all alerts that are kept.",
		page:  pageaddress.Alerts, search: append([]string{"status", "severity", "q", "muted", "sort", "page", "pageSize"}, window...),
		figures: map[string]string{"occurrences": "times triggered"},
	},
	{
		name: "get_alert", title: "One alert", operation: "getAlert",
		about:  "Returns one alert with its description, its rule and its timeline, and whom Muster notified.",
		beside: []beside{{"notifications", "listAlertNotifications", nil}},
		page:   pageaddress.Alert,
	},
	{
		name: "list_reports", title: "Reports", operation: "listReports",
		about: "Lists the reports of one kind, newest first, with their state and scope.",
		page:  pageaddress.Reports, search: []string{"kind", "status", "page"},
	},
	{
		name: "get_report", title: "One report", operation: "getReport",
		about:  "Returns one report with its scope, recipients, and the files that a person can download on its page.",
		beside: []beside{{"files", "listReportFiles", nil}},
		page:   pageaddress.Report,
	},
	{
		name: "what_changed", title: "What changed", operation: "listMarks",
		about: "Lists what happened to the servers in a window: deployments that people or programs marked, restarts, changed " +
			"settings, new versions, servers that joined or left. Use it to explain a change of a figure.",
		page: pageaddress.Dashboard, search: window,
	},
	{
		name: "evidence", title: "Evidence",
		about: "Returns evidence: how a check stood on each server over a period (of: control, with checkId), or the proof of a report " +
			"against the event log (of: report, with reportId).",
		choice: "of", choices: []choice{{"control", "getControl"}, {"report", "getReportProof"}},
		page: pageaddress.Check, search: nil,
	},
}

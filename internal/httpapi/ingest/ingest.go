package ingest

import (
	"bytes"
	"context"
	"encoding/json"
	"mime"
	"strconv"

	"muster/commands/alerting"
	"muster/commands/inventory"
	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/intake"
	"muster/internal/intake/feed"
	"muster/internal/intake/otlp"
	"muster/internal/intake/remotewrite"
	"muster/internal/intake/senders"
	"muster/internal/measurements"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/replication"
	"muster/internal/measurements/room"
)

// note counts by sender what became of a message: by the names of its metrics, where it has
// any, and else by sorts.
func (s *FeedRoutes) note(ctx context.Context, receipt intake.Receipt, names *intake.Tally) {
	from := senderOf(ctx)
	if s.admit(ctx) != nil { // its counts are those of a sender without a name
		from.Name = ""
	}
	s.Senders.Note(from, func(count func(string, intake.Reason, int)) {
		if names != nil {
			names.Each(count)
		}
		for sort, n := range receipt.Recorded {
			if n > 0 {
				count(string(sort), "", n)
			}
		}
		for reason, n := range receipt.Dropped {
			if n > 0 && (names == nil || reason != intake.NotUsed) { // which names have said
				count("", reason, n)
			}
		}
	})
}

// senderOf is who sends a request. A name that none can have is not there: doors that take the
// header refuse it before.
func senderOf(ctx context.Context) senders.Sender {
	call := wire.CallOf(ctx)
	from := senders.Sender{Organization: call.Principal.Organization.ID, Token: call.Principal.ID, Door: call.Route}
	if name := call.Request.Header.Get("X-Muster-Sender"); senders.IsName(name) {
		from.Name = name
	}
	return from
}

// admit refuses a sender that is one too many of its token or organization.
func (s *FeedRoutes) admit(ctx context.Context) error {
	from := senderOf(ctx)
	if s.Senders == nil || from.Name == "" {
		return nil
	}
	return s.Senders.Admit(ctx, from)
}

// Refused counts a call that is refused because a budget is used up, so that the page of senders
// says why what they sent is missing.
func (s *FeedRoutes) Refused(ctx context.Context) {
	if s.Senders != nil {
		s.note(ctx, intake.Receipt{Dropped: map[intake.Reason]int{intake.OverBudget: 1}}, nil)
	}
}

// taken counts what became of a message, and waits until its writes show in every list.
func (s *FeedRoutes) taken(ctx context.Context, receipt intake.Receipt, err error, names ...*intake.Tally) error {
	if s.Senders != nil {
		var of *intake.Tally
		if len(names) > 0 {
			of = names[0]
		}
		s.note(ctx, receipt, of)
	}
	for sort, n := range receipt.Recorded {
		s.Metrics.Ingested.WithLabelValues(string(sort)).Add(float64(n))
	}
	for reason, n := range receipt.Dropped {
		s.Metrics.IngestDropped.WithLabelValues(wire.CallOf(ctx).Route, string(reason)).Add(float64(n))
	}
	if err == nil {
		wire.Settle(ctx, s.Waiter, receipt.Mark)
	}
	return err
}

// RecordFleet takes in what another tool knows of instances and databases.
func (s *FeedRoutes) RecordFleet(ctx context.Context, r api.RecordFleetRequestObject) (api.RecordFleetResponseObject, error) {
	from := wire.Actor(ctx)
	from.Sender = senderOf(ctx).Name
	receipt, err := s.Feed.TakeFleet(ctx, from, fleetItems(r.Body))
	if err := s.taken(ctx, receipt, err); err != nil {
		return nil, err
	}
	return api.RecordFleet200JSONResponse{Instances: wire.List(receipt.Fleet, func(i inventory.IDs) api.FleetInstanceId {
		databases := wire.List(i.Databases, func(d inventory.IDs) api.FleetDatabaseId {
			return api.FleetDatabaseId{ExternalId: d.ExternalID, Id: d.ID}
		})
		shown := api.FleetInstanceId{ExternalId: i.ExternalID, Id: i.ID, Databases: databases}
		if len(i.Kept) > 0 {
			shown.KeptTags = &i.Kept
		}
		return shown
	})}, nil
}

// RecordAlerts takes in what another tool knows of alerts.
func (s *FeedRoutes) RecordAlerts(ctx context.Context, r api.RecordAlertsRequestObject) (api.RecordAlertsResponseObject, error) {
	receipt, err := s.Feed.TakeAlerts(ctx, wire.Actor(ctx), alertItems(r.Body))
	if err := s.taken(ctx, receipt, err); err != nil {
		return nil, err
	}
	return api.RecordAlerts200JSONResponse{Alerts: wire.List(receipt.Alerts, func(id alerting.ID) api.AlertRecorded {
		return api.AlertRecorded{ExternalId: id.ExternalID, Id: id.ID}
	})}, nil
}

// RecordSamples takes in what another tool measured.
func (s *FeedRoutes) RecordSamples(ctx context.Context, r api.RecordSamplesRequestObject) (api.RecordSamplesResponseObject, error) {
	if err := s.admit(ctx); err != nil {
		return nil, err
	}
	items := SampleItems(r.Body)
	items.Sender = wire.Value(r.Params.XMusterSender)
	receipt, err := s.Feed.TakeSamples(ctx, wire.Actor(ctx), items)
	if err := s.taken(ctx, receipt, err); err != nil {
		return nil, err
	}
	var answer api.RecordSamples202JSONResponse
	answer.Accepted.Hosts = receipt.Recorded[intake.HostSample]
	answer.Accepted.Sessions = receipt.Recorded[intake.SessionSample]
	answer.Accepted.Statements = receipt.Recorded[intake.StatementSample]
	return answer, nil
}

// RecordBackups takes in which backups another tool made.
func (s *FeedRoutes) RecordBackups(ctx context.Context, r api.RecordBackupsRequestObject) (api.RecordBackupsResponseObject, error) {
	receipt, err := s.Feed.TakeBackups(ctx, wire.Actor(ctx), backupItems(r.Body))
	if err := s.taken(ctx, receipt, err); err != nil {
		return nil, err
	}
	var answer api.RecordBackups202JSONResponse
	answer.Accepted.Backups = receipt.Recorded[intake.Backup]
	return answer, nil
}

// RecordAssessments takes in what another tool found on instances.
func (s *FeedRoutes) RecordAssessments(ctx context.Context, r api.RecordAssessmentsRequestObject) (api.RecordAssessmentsResponseObject, error) {
	buffered := wire.Value(r.Params.XMusterBuffered) == "true" && wire.CallOf(ctx).Request.Header.Get("X-Muster-Sender") != ""
	receipt, err := s.Feed.TakeAssessments(ctx, wire.Actor(ctx), buffered, AssessmentItems(r.Body))
	if err := s.taken(ctx, receipt, err); err != nil {
		return nil, err
	}
	var answer api.RecordAssessments202JSONResponse
	answer.Accepted.Assessments = receipt.Recorded[intake.Assessment]
	answer.Accepted.Findings = receipt.Recorded[intake.Finding]
	answer.Accepted.Columns = receipt.Recorded[intake.ClassifiedColumn]
	return answer, nil
}

// ReceivePrometheusWrite takes in what Prometheus scraped of hosts. For a bad sample
// the specification of remote_write would have 400 told where the others are kept, for
// its senders to give up, which our contract does not do to them. What 2.0 is told was
// written is what it sent less what was bad.
func (s *FeedRoutes) ReceivePrometheusWrite(ctx context.Context, _ api.ReceivePrometheusWriteRequestObject) (api.ReceivePrometheusWriteResponseObject, error) {
	call := wire.CallOf(ctx)
	_, parameters, _ := mime.ParseMediaType(call.Request.Header.Get("Content-Type"))
	door, answer := s.Agents.RemoteWrite1, api.ReceivePrometheusWrite204Response{}
	if parameters["proto"] == remotewrite.V2 {
		door = s.Agents.RemoteWrite2
	}
	counting, names := intake.WithNames(ctx)
	receipt, err := door.Take(counting, wire.Actor(ctx), call.Body)
	if err := s.taken(ctx, receipt, err, names); err != nil {
		return nil, err
	}
	if door == s.Agents.RemoteWrite2 {
		samples := receipt.Received - receipt.Refused()
		answer.Headers = api.ReceivePrometheusWrite204ResponseHeaders{
			XPrometheusRemoteWriteSamplesWritten:    &samples,
			XPrometheusRemoteWriteHistogramsWritten: &receipt.Histograms,
			XPrometheusRemoteWriteExemplarsWritten:  &receipt.Exemplars,
		}
	}
	return answer, nil
}

// ReceiveOtlpMetrics takes in what an OpenTelemetry collector measured of hosts.
func (s *FeedRoutes) ReceiveOtlpMetrics(ctx context.Context, _ api.ReceiveOtlpMetricsRequestObject) (api.ReceiveOtlpMetricsResponseObject, error) {
	call := wire.CallOf(ctx)
	door, asJSON := s.Agents.OTLPProtobuf, wire.IsJSON(call.Request)
	if asJSON {
		door = s.Agents.OTLPJSON
	}
	counting, names := intake.WithNames(ctx)
	receipt, err := door.Take(counting, wire.Actor(ctx), call.Body)
	if err := s.taken(ctx, receipt, err, names); err != nil {
		return nil, err
	}
	rejected, message := otlp.Rejected(receipt)
	if !asJSON {
		body := otlp.Answer(rejected, message)
		return api.ReceiveOtlpMetrics200ApplicationxProtobufResponse{Body: bytes.NewReader(body), ContentLength: int64(len(body))}, nil
	}
	answer := api.ReceiveOtlpMetrics200JSONResponse{}
	if rejected > 0 { // numbers of 64 bits are texts in this form of JSON
		answer.PartialSuccess = &api.OtlpPartialSuccess{RejectedDataPoints: strconv.Itoa(rejected), ErrorMessage: message}
	}
	return answer, nil
}

// ReceiveOtlpLogs takes in what a collector's receivers of databases tell as events.
func (s *FeedRoutes) ReceiveOtlpLogs(ctx context.Context, r api.ReceiveOtlpLogsRequestObject) (api.ReceiveOtlpLogsResponseObject, error) {
	call := wire.CallOf(ctx)
	door, asJSON := s.Agents.OTLPLogsProtobuf, wire.IsJSON(call.Request)
	if asJSON {
		door = s.Agents.OTLPLogsJSON
	}
	if err := s.admit(ctx); err != nil {
		return nil, err
	}
	receipt, err := door.Take(ctx, wire.Actor(ctx), wire.Value(r.Params.XMusterSender), call.Body)
	if err := s.taken(ctx, receipt, err); err != nil {
		return nil, err
	}
	rejected, message := otlp.RejectedRecords(receipt)
	if !asJSON {
		body := otlp.Answer(rejected, message)
		return api.ReceiveOtlpLogs200ApplicationxProtobufResponse{Body: bytes.NewReader(body), ContentLength: int64(len(body))}, nil
	}
	answer := api.ReceiveOtlpLogs200JSONResponse{}
	if rejected > 0 {
		answer.PartialSuccess = &api.OtlpPartialLogs{RejectedLogRecords: strconv.Itoa(rejected), ErrorMessage: message}
	}
	return answer, nil
}

// ReceiveAlertmanagerWebhook takes in what Alertmanager tells a webhook receiver.
func (s *FeedRoutes) ReceiveAlertmanagerWebhook(ctx context.Context, _ api.ReceiveAlertmanagerWebhookRequestObject) (api.ReceiveAlertmanagerWebhookResponseObject, error) {
	receipt, err := s.Agents.Webhook.Take(ctx, wire.Actor(ctx), wire.CallOf(ctx).Body)
	return api.ReceiveAlertmanagerWebhook200JSONResponse(agentReceipt(receipt)), s.taken(ctx, receipt, err)
}

// ReceiveGrafanaWebhook takes in what Grafana tells a webhook contact point.
func (s *FeedRoutes) ReceiveGrafanaWebhook(ctx context.Context, _ api.ReceiveGrafanaWebhookRequestObject) (api.ReceiveGrafanaWebhookResponseObject, error) {
	receipt, err := s.Agents.Grafana.Take(ctx, wire.Actor(ctx), wire.CallOf(ctx).Body)
	return api.ReceiveGrafanaWebhook200JSONResponse(agentReceipt(receipt)), s.taken(ctx, receipt, err)
}

// ReceiveAlertmanagerAlerts takes in what Prometheus and vmalert tell an Alertmanager.
func (s *FeedRoutes) ReceiveAlertmanagerAlerts(ctx context.Context, _ api.ReceiveAlertmanagerAlertsRequestObject) (api.ReceiveAlertmanagerAlertsResponseObject, error) {
	receipt, err := s.Agents.AlertmanagerAPI.Take(ctx, wire.Actor(ctx), wire.CallOf(ctx).Body)
	return api.ReceiveAlertmanagerAlerts200JSONResponse(agentReceipt(receipt)), s.taken(ctx, receipt, err)
}

func agentReceipt(r intake.Receipt) api.AgentReceipt {
	reasons := map[string]int{}
	for reason, n := range r.Dropped {
		if reason != intake.Ambiguous && n > 0 {
			reasons[string(reason)] = n
		}
	}
	return api.AgentReceipt{
		Received: r.Received, Dropped: r.Received - r.Recorded[intake.Alert], Ambiguous: r.Dropped[intake.Ambiguous], Reasons: reasons,
	}
}

// The native feed's bodies as the doors take them; here is only the spelling.

func fleetItems(body *api.FleetBatch) []inventory.Item {
	items := make([]inventory.Item, 0, len(body.Instances))
	for _, i := range body.Instances {
		item := inventory.Item{
			ExternalID: i.ExternalId, Name: i.Name, Engine: fleet.Engine(i.Engine), Version: i.Version, Host: i.Host,
			Active: i.Active, CreatedAt: i.CreatedAt, Removed: wire.Value(i.Removed), Tags: (*map[string]string)(i.Tags),
		}
		for _, d := range wire.Value(i.Databases) {
			item.Databases = append(item.Databases, inventory.Database{
				ExternalID: d.ExternalId, Name: d.Name, CreatedAt: d.CreatedAt, Removed: wire.Value(d.Removed),
			})
		}
		items = append(items, item)
	}
	return items
}

func alertItems(body *api.AlertBatch) []alerting.Item {
	return wire.List(body.Alerts, func(a api.AlertItem) alerting.Item {
		return alerting.Item{
			ExternalID: a.ExternalId, Title: a.Title, Severity: alert.Severity(a.Severity), State: alert.State(a.State), Muted: a.IsMuted,
			CreatedAt: a.CreatedAt, FirstTriggeredAt: a.FirstTriggeredAt, LastTriggeredAt: a.LastTriggeredAt, ResolvedAt: a.ResolvedAt,
			Instance: a.Instance, Database: a.Database,
		}
	})
}

// SampleItems are the samples of a body as their door takes them.
func SampleItems(body *api.SampleBatch) (items feed.Items) {
	for _, h := range wire.Value(body.Hosts) {
		host := feed.HostItem{Host: h.Host, Instances: h.Instances, At: h.At, CPUPercent: h.CpuPercent, MemoryPercent: h.MemoryPercent}
		if h.Volumes != nil {
			host.Volumes = make([]feed.VolumeItem, 0, len(*h.Volumes))
		}
		for _, v := range wire.Value(h.Volumes) {
			host.Volumes = append(host.Volumes, feed.VolumeItem(v))
		}
		items.Hosts = append(items.Hosts, host)
	}
	for _, s := range wire.Value(body.Sessions) {
		items.Sessions = append(items.Sessions, sessionItem(s))
	}
	for _, s := range wire.Value(body.Statements) {
		sample := feed.StatementItem{At: s.At, Instance: s.Instance, Database: s.Database, IntervalSeconds: s.IntervalSeconds, BusyMs: s.BusyMs}
		sample.Statements = make([]feed.DeltaItem, 0, len(s.Statements))
		for _, d := range s.Statements {
			sample.Statements = append(sample.Statements, feed.DeltaItem(d))
		}
		items.Statements = append(items.Statements, sample)
	}
	for _, b := range wire.Value(body.Blocking) {
		items.Blocking = append(items.Blocking, feed.BlockingItem{
			Instance: b.Instance, At: b.At, IntervalSeconds: b.IntervalSeconds, Advisory: wire.Value(b.Advisory), Omitted: wire.Value(b.Omitted), End: blocking.End(wire.Value(b.EndedBy)),
			Nodes: wire.List(b.Sessions, blockingNode), Deadlock: sentDeadlock(b.Deadlock),
		})
	}
	for _, s := range wire.Value(body.Servers) {
		items.Servers = append(items.Servers, feed.ServerItem{Instance: s.Instance, At: s.At, Figures: wire.List(s.Figures, figureItem)})
	}
	for _, one := range wire.Value(body.Replication) {
		items.Replication, items.ReplicationOf = append(items.Replication, replicationState(one)), append(items.ReplicationOf, one.Instance)
	}
	items.Backups = wire.List(wire.Value(body.Backups), backupLook)
	for _, body := range wire.Value(body.Room) {
		var sent room.Sent
		_ = json.Unmarshal(body, &sent) // which openapi.yaml has checked
		sent.State.At = sent.At
		items.Room, items.RoomOf = append(items.Room, sent.State), append(items.RoomOf, sent.Server)
	}
	return items
}

func figureItem(f api.SentFigure) feed.FigureItem {
	item := feed.FigureItem{
		Figure: measurements.Figure(f.Figure), Database: wire.Value(f.Database), Telling: measurements.Telling(wire.Value(f.State)),
		Value: wire.Value(f.Value), IntervalSeconds: f.IntervalSeconds,
	}
	if item.Telling == "" {
		item.Telling = measurements.Told
	}
	if h := f.Holder; h != nil {
		item.HeldIn = wire.Value(h.Database)
		item.Holder = &measurements.Holder{Session: h.Session, Doing: measurements.Doing{
			State: measurements.State(h.State), Statement: wire.Value(h.Statement),
			User: wire.Value(h.User), Application: wire.Value(h.Application), Client: wire.Value(h.Client),
		}}
	}
	return item
}

// replicationState is a state as it was sent. Both have the same form, but for whose it is and when.
func replicationState(sent api.ReplicationSample) (s replication.State) {
	if body, err := json.Marshal(sent); err == nil { // which its own type always has
		_ = json.Unmarshal(body, &s)
	}
	s.At = sent.At
	return s
}

func sessionItem(s api.SessionSample) feed.SessionItem {
	return feed.SessionItem{
		Instance: s.Instance, Database: s.Database, At: s.At, IntervalSeconds: s.IntervalSeconds, Waits: s.Waits,
		Active: s.Active, Idle: s.Idle, Waiting: s.Waiting, IdleInTransaction: s.IdleInTransaction, Other: s.Other,
		Deadlocks: s.Deadlocks,
		Activity: sent(s.Activity, func(a api.SentActivity) feed.ActivityItem {
			return feed.ActivityItem{Sessions: a.Sessions, Doing: measurements.Doing{
				State: measurements.State(a.State), Wait: wire.Value(a.Wait), Event: wire.Value(a.Event), Statement: wire.Value(a.Statement),
				User: wire.Value(a.User), Application: wire.Value(a.Application), Client: wire.Value(a.Client),
			}}
		}),
	}
}

func sentDeadlock(d *api.SentDeadlock) *blocking.Deadlock {
	if d == nil {
		return nil
	}
	return &blocking.Deadlock{Database: wire.Value(d.Database), Victims: wire.Value(d.Victims), Count: wire.Or(d.Count, 1), Seen: wire.Value(d.Seen)}
}

func blockingNode(n api.SentBlockingSession) blocking.Node {
	return blocking.Node{
		Session: n.Session, Kind: blocking.Kind(n.Kind), Began: n.StartedAt, User: wire.Value(n.User), Application: wire.Value(n.Application),
		Client: wire.Value(n.Client), Database: wire.Value(n.Database), State: wire.Value(n.State), Idle: wire.Value(n.IdleInTransaction),
		Statement: wire.Value(n.Statement), StatementID: wire.Value(n.StatementId), Transaction: n.TransactionSince, Changed: n.StateSince,
		Waits: n.WaitsSince, For: wire.Value(n.WaitsFor), Lock: wire.Value(n.Lock), Mode: wire.Value(n.Mode), Object: wire.Value(n.Object),
		Advisory: wire.Value(n.Advisory),
	}
}

// AssessmentItems are the assessments of a body as their door takes them.
func AssessmentItems(body *api.AssessmentBatch) []feed.AssessmentItem {
	return wire.List(body.Assessments, func(a api.SentAssessment) feed.AssessmentItem {
		return feed.AssessmentItem{
			Instance: a.Instance, At: a.At, Version: a.Version, Edition: a.Edition,
			Checks: sent(a.Checks, func(c api.SentCheck) feed.CheckItem {
				return feed.CheckItem{
					ID: c.Id, Outcome: string(c.Outcome), Measured: c.Measured, Reason: c.Reason,
					Objects:       sent(c.Objects, objectItem),
					MeasuredIn:    sent(c.MeasuredIn, func(m api.SentMeasured) feed.MeasuredItem { return feed.MeasuredItem(m) }),
					NotAssessedIn: sent(c.NotAssessedIn, func(u api.SentUnassessed) feed.UnassessedItem { return feed.UnassessedItem(u) }),
				}
			}),
			Accounts:  sent(a.Accounts, func(account api.SentAccount) feed.AccountItem { return feed.AccountItem(account) }),
			Settings:  sent(a.Settings, func(setting api.SentSetting) feed.SettingItem { return feed.SettingItem(setting) }),
			Databases: sent(a.Databases, databaseItem),
		}
	})
}

func objectItem(o api.SentObject) feed.ObjectItem {
	return feed.ObjectItem{Database: o.Database, Evidence: o.Evidence, Object: o.Object, Severity: string(wire.Value(o.Severity))}
}

func databaseItem(d api.SentDatabase) feed.DatabaseItem {
	item := feed.DatabaseItem{Database: d.Database, SizeBytes: d.SizeBytes, EncryptedAtRest: d.EncryptedAtRest}
	if c := d.Classification; c != nil {
		item.Classification = &feed.ClassificationItem{CompletedAt: c.CompletedAt, Method: string(c.Method), Tables: wire.List(c.Tables, tableItem)}
		if of := c.Coverage; of != nil {
			item.Classification.Coverage = &feed.CoverageItem{Tables: of.Tables, TablesRead: of.TablesRead, Columns: of.Columns, ColumnsRead: of.ColumnsRead}
		}
		for _, n := range wire.Value(c.NotRead) {
			item.Classification.NotRead = append(item.Classification.NotRead, feed.NotReadItem{
				Schema: n.Schema, Table: n.Table, Columns: wire.Value(n.Columns), Reason: n.Reason,
			})
		}
	}
	return item
}

func tableItem(t api.SentTable) feed.TableItem {
	return feed.TableItem{
		Schema: t.Schema, Table: t.Table, Rows: t.Rows, Encrypted: t.Encrypted, Readers: sent(t.Readers, func(name string) string { return name }),
		Columns: wire.List(t.Columns, func(c api.SentColumn) feed.ColumnItem {
			return feed.ColumnItem{Column: c.Column, Category: string(c.Category), Confidence: c.Confidence}
		}),
	}
}

// sent is a list that may have been left out: nil then, and never nil where it is empty.
func sent[Row, Item any](rows *[]Row, item func(Row) Item) []Item {
	if rows == nil {
		return nil
	}
	return wire.List(*rows, item)
}

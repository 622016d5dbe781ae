package reports

import (
	"context"
	"encoding/json"
	"fmt"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/report"
	"muster/domain/rule"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/report/snapshot/sheets"
)

// requestIn is a request as its body has it.
func requestIn(body *api.CreateReport) commands.RequestReport {
	in := commands.RequestReport{Kind: report.Kind(body.Kind), RecipientIDs: wire.Value(body.RecipientIds), TeamIDs: wire.Value(body.TeamIds)}
	if scope := body.Scope; scope != nil {
		in.InstanceIDs, in.DatabaseID, in.From, in.To = wire.Value(scope.InstanceIds), scope.DatabaseId, scope.From, scope.To
		in.Tags = fleet.TagFilter(wire.Value(scope.Tags))
	}
	return in
}

// PreviewReport shows the sheet of a summary that nobody has requested. It is gathered like that of a report.
func (s *ReportRoutes) PreviewReport(ctx context.Context, r api.PreviewReportRequestObject) (api.PreviewReportResponseObject, error) {
	kind, err := report.Find(report.Kind(r.Body.Kind))
	if err != nil || !sheets.Has(kind) {
		return nil, usecase.RuleErrorOf(rule.Set{{Pointer: "#/kind", Code: "out_of_range", Detail: "is no kind of report that has a preview"}})
	}
	who := wire.Actor(ctx)
	queued, err := s.Commands.PreviewReport(ctx, who, requestIn(r.Body))
	if err != nil {
		return nil, err
	}
	doc, err := s.Gather(ctx, who.OrganizationID, queued, s.Now())
	if err != nil {
		return nil, fmt.Errorf("gather a preview: %w", err)
	}
	shown, err := sheets.Of(doc)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(shown)
	if err != nil {
		return nil, err
	}
	answer := api.PreviewReport200JSONResponse{"scopeLabel": queued.ScopeLabel, "from": queued.Scope.From, "to": queued.Scope.To}
	return answer, json.Unmarshal(text, &answer)
}

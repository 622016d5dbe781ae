package signin

import (
	"context"

	"muster/commands"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
)

func (s *MemberRoutes) GetOrganization(ctx context.Context, _ api.GetOrganizationRequestObject) (api.GetOrganizationResponseObject, error) {
	who := wire.Caller(ctx)
	o := who.Organization
	return api.GetOrganization200JSONResponse{Body: s.organization(ctx, o, who.Scope()), Headers: api.GetOrganization200ResponseHeaders{ETag: wire.StateTag(o.Settings())}}, nil
}

func (s *MemberRoutes) organization(ctx context.Context, o accounts.Organization, sees fleet.Scope) api.Organization {
	var side wire.Side
	started, err := s.Fleet.MonitoringStartedIn(ctx, o.ID, sees)
	side.Lacks(ctx, err, "monitoringStartedAt")
	return api.Organization{
		Id: o.ID, Name: o.Name, TimeZone: o.TimeZone, ReportRetentionDays: o.ReportRetentionDays,
		InputsRetentionDays: o.InputsRetentionDays, PaperSize: o.PaperSize, StatementTexts: o.StatementTexts, SessionDetail: o.SessionDetail, ExceptionApproval: o.ExceptionApproval, Catalog: o.Catalog, Demo: o.Demo, MonitoringStartedAt: wire.UTC(started),
		ProtectedTags: organization.SplitKeys(o.ProtectedTags),
		DueDays:       api.DueDays{Critical: o.DueCritical, High: o.DueHigh, Medium: o.DueMedium, Low: o.DueLow},
		Watch: api.Watch{
			SilentMinutes: o.SilentMinutes, VolumePercent: o.VolumePercent,
			LockWaitMinutes: o.LockWaitMinutes, WraparoundPercent: o.WraparoundPercent, AdvisoryLocks: o.AdvisoryLocks,
		},
		Unavailable: side.Unavailable(),
	}
}

func (s *MemberRoutes) ChangeOrganization(ctx context.Context, r api.ChangeOrganizationRequestObject) (api.ChangeOrganizationResponseObject, error) {
	if r.Params.IfMatch == nil {
		name := "If-Match"
		return nil, &wire.Problem{Code: "precondition_required", Detail: "Send the ETag of the settings that you read before this change as If-Match.",
			Fields: []api.FieldError{{In: api.Header, Parameter: &name, Code: "precondition_required", Detail: "is required"}}}
	}
	o, mark, err := s.Commands.ChangeOrganization(ctx, wire.Actor(ctx), commands.ChangeOrganization{
		ChangeSettings: changeOf(r.Body), Seen: wire.StatesSeen(*r.Params.IfMatch),
	})
	if err != nil {
		return nil, err
	}
	wire.Settle(ctx, s.Waiter, mark)
	return api.ChangeOrganization200JSONResponse{Body: s.organization(ctx, o, fleet.Scope{}), Headers: api.ChangeOrganization200ResponseHeaders{ETag: wire.StateTag(o.Settings())}}, nil
}

func changeOf(body *api.ChangeOrganization) organization.ChangeSettings {
	c := organization.ChangeSettings{
		Name: body.Name, PaperSize: (*string)(body.PaperSize), StatementTexts: (*string)(body.StatementTexts), SessionDetail: (*string)(body.SessionDetail), ExceptionApproval: (*string)(body.ExceptionApproval), Catalog: (*string)(body.Catalog),
		ReportRetentionDays: number(body.ReportRetentionDays), InputsRetentionDays: number(body.InputsRetentionDays),
	}
	c.ProtectedTags = body.ProtectedTags
	if d := body.DueDays; d != nil {
		c.DueCritical, c.DueHigh, c.DueMedium, c.DueLow = number(d.Critical), number(d.High), number(d.Medium), number(d.Low)
	}
	if w := body.Watch; w != nil {
		c.SilentMinutes, c.VolumePercent = number(w.SilentMinutes), number(w.VolumePercent)
		c.LockWaitMinutes, c.WraparoundPercent = number(w.LockWaitMinutes), number(w.WraparoundPercent)
		c.AdvisoryLocks = (*string)(w.AdvisoryLocks)
	}
	return c
}

func number(n *int32) *int {
	if n == nil {
		return nil
	}
	wide := int(*n)
	return &wide
}

package commands

import (
	"context"

	"muster/commands/usecase"
	"muster/domain/report"
)

// PreviewReport is what a request would ask for. It writes nothing, and nobody receives anything, so the
// requester may be of any role. Errors: *usecase.RuleError with every broken rule.
func (s *Service) PreviewReport(ctx context.Context, actor usecase.Actor, r RequestReport) (report.Queued, error) {
	r.RecipientIDs, r.TeamIDs = nil, nil
	return s.checkRequest(ctx, actor, r)
}

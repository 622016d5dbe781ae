package signin

import (
	"context"
	"slices"

	"muster/domain/notification"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/notify"
)

// alertsTold is whether a rule that is enabled tells of alerts that are raised; nil for
// everybody but administrators. A page that learns it later pushes what is below down.
func (s *MemberRoutes) alertsTold(ctx context.Context, p accounts.Principal) (*bool, error) {
	if !p.Can(organization.ScopeAdmin) {
		return nil, nil
	}
	rules, err := (&notify.Reader{DB: s.DB}).Rules(ctx, p.Organization.ID, nil)
	if err != nil {
		return nil, err
	}
	told := slices.ContainsFunc(rules, func(r notify.Rule) bool {
		of := r.Terms.Value
		return of.Enabled && (len(of.Match.Events) == 0 || slices.Contains(of.Match.Events, notification.AlertRaised))
	})
	return &told, nil
}

package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"muster/domain/organization"
	"muster/internal/accounts"
)

// ChangeOrganization is what changes about the settings; nil stays.
type ChangeOrganization struct {
	organization.ChangeSettings
	// Seen are the digests of the settings that the change was made from, one of
	// which must be in force; nil: whichever are.
	Seen []string
}

// ChangeOrganization changes the organization's settings and returns it. A
// report that is Ready keeps the retention that was in force then. Errors:
// *RuleError with out_of_range, invalid_parameter or precondition_failed.
func (s *Service) ChangeOrganization(ctx context.Context, actor Actor, c ChangeOrganization) (accounts.Organization, Mark, error) {
	if err := checkSettings(c.ChangeSettings); err != nil {
		return accounts.Organization{}, Mark{}, err
	}
	if c.Name != nil {
		name := strings.TrimSpace(*c.Name)
		c.Name = &name
	}
	var o accounts.Organization
	mark, err := s.inTxMarked(ctx, func(tx *sqlx.Tx) (Mark, error) {
		var is organization.Settings
		return s.decideOrganization(ctx, tx, actor, func(*organization.Organization) (events []organization.Event, err error) {
			if o, err = s.Accounts.LockOrganization(ctx, tx, actor.OrganizationID); err != nil {
				return nil, err
			}
			was := o.Settings()
			if c.Seen != nil && !slices.Contains(c.Seen, was.Digest()) {
				return nil, &RuleError{Code: "precondition_failed", Title: titles()["precondition_failed"],
					Detail: "The settings have changed since you read them. Read them again and repeat your change."}
			}
			is, events = was.Change(c.ChangeSettings)
			return events, nil
		}, func([]organization.Event) (err error) {
			o, err = s.Accounts.UpdateSettings(ctx, tx, actor.OrganizationID, is)
			return err
		})
	})
	return o, mark, err
}

// Bounds of the settings.
const (
	maxReportRetentionDays = 365
	maxInputsRetentionDays = 3650
	maxMinutes             = 24 * 60
	maxPercent             = 100
)

// checkSettings returns every rule that the change breaks.
func checkSettings(c organization.ChangeSettings) error {
	var broken []FieldError
	if c.Name != nil {
		if e := checkName("#/name", *c.Name); e != nil {
			broken = append(broken, *e)
		}
	}
	for _, number := range []struct {
		pointer string
		value   *int
		most    int
	}{
		{"#/reportRetentionDays", c.ReportRetentionDays, maxReportRetentionDays},
		{"#/inputsRetentionDays", c.InputsRetentionDays, maxInputsRetentionDays},
		{"#/watch/silentMinutes", c.SilentMinutes, maxMinutes},
		{"#/watch/volumePercent", c.VolumePercent, maxPercent},
		{"#/watch/lockWaitMinutes", c.LockWaitMinutes, maxMinutes},
		{"#/watch/wraparoundPercent", c.WraparoundPercent, maxPercent},
	} {
		if number.value != nil && (*number.value < 1 || *number.value > number.most) {
			broken = append(broken, FieldError{Pointer: number.pointer, Code: "out_of_range",
				Detail: fmt.Sprintf("must be 1 to %d", number.most), Params: map[string]any{"min": 1, "max": number.most}})
		}
	}
	if c.PaperSize != nil && *c.PaperSize != "A4" && *c.PaperSize != "Letter" {
		broken = append(broken, FieldError{Pointer: "#/paperSize", Code: "invalid_parameter", Detail: "must be A4 or Letter"})
	}
	return fieldErrors(broken)
}

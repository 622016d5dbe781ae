package handlers

import (
	"context"
	"fmt"
	"time"

	"muster/internal/accounts"

	"github.com/google/uuid"
)

const day = 24 * time.Hour

// Windows says how long an organization's files are kept from now on: as it has set
// it, or for the reports an override of the whole installation.
type Windows struct {
	Accounts *accounts.Store
	Override time.Duration // MUSTER_REPORT_RETENTION; 0: none
}

// Windows returns how long files are kept from now on.
func (w Windows) Windows(ctx context.Context, organization uuid.UUID) (reports, inputs time.Duration, err error) {
	o, ok, err := w.Accounts.Organization(ctx, organization)
	if err != nil {
		return 0, 0, fmt.Errorf("read the retention of organization %s: %w", organization, err)
	}
	if !ok {
		return 0, 0, fmt.Errorf("read the retention: no organization %s", organization)
	}
	reports = time.Duration(o.ReportRetentionDays) * day
	if w.Override > 0 {
		reports = w.Override
	}
	return reports, time.Duration(o.InputsRetentionDays) * day, nil
}

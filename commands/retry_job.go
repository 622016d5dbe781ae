package commands

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"muster/domain/report"
)

// ReportFinalError says that a report is not built any more, because it has ended.
type ReportFinalError struct {
	Report uuid.UUID
	Status report.Status
}

func (e *ReportFinalError) Error() string {
	return fmt.Sprintf("report %s is %s, so building it again would change nothing; request the report again instead", e.Report, e.Status)
}

// RetryJob lets a job that was set aside run again, with all its attempts ahead of
// it. The build of a report that has ended stays where it is: a worker would find
// nothing left to do. Nothing is locked, for a report that has ended stays so.
// Errors: *ReportFinalError, and those of Jobs.Retry.
func (s *Service) RetryJob(ctx context.Context, organization, job uuid.UUID) error {
	id, isBuild, err := s.Jobs.DeadBuild(ctx, organization, job)
	if err != nil {
		return err
	}
	if isBuild {
		var r report.Report
		if _, err := fold(ctx, s, s.DB, organization, id, r.Apply); err != nil {
			return err
		}
		switch status := r.Status(); status {
		case report.StatusReady, report.StatusFailed, report.StatusExpired:
			return &ReportFinalError{Report: id, Status: status}
		case report.StatusQueued, report.StatusBuilding:
		}
	}
	return s.Jobs.Retry(ctx, organization, job)
}

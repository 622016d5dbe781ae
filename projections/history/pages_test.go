package history_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/projections"
	"muster/projections/history"
	"muster/projections/projectionstest"
)

// TestPagesMayBeCutAnywhere draws interleaved stories of reports: the result for a report is
// the same, whichever of its events share a page.
func TestPagesMayBeCutAnywhere(t *testing.T) {
	t.Parallel()
	s, draw := newScene(t), rand.New(rand.NewPCG(18, 54))
	stories := make([][]report.Event, 60)
	for i := range stories {
		stories[i] = story(draw)
	}
	for told := true; told; {
		told = false
		for i := range stories {
			n := min(draw.IntN(4), len(stories[i]))
			if n > 0 {
				s.happens(id(uint32(1+i%2)), id(uint32(100+i)), stories[i][:n]...)
			}
			stories[i] = stories[i][n:]
			told = told || len(stories[i]) > 0
		}
	}
	s.stage.Settle()
	projectionstest.PagesMayBeCutAnywhere(t, s.db, history.Projection(s.registry.Decode))
	difference, err := s.stage.Rebuild(t.Context(), history.Name, projections.RebuildOptions{StopOnDifference: true}, nil)
	if err != nil || !difference.Empty() {
		t.Errorf("rebuild gives %+v, %v", difference, err)
	}
}

// story draws how a report goes, from its request to any end.
func story(draw *rand.Rand) []report.Event {
	kinds := []report.Kind{report.Security, report.InstanceScorecard, report.DataInventory}
	members := []uuid.UUID{id(11), id(12), id(13)}
	told := []report.Event{queued(kinds[draw.IntN(len(kinds))], members[0], members[:draw.IntN(3)]...)}
	for range draw.IntN(3) {
		m := members[draw.IntN(len(members))]
		told = append(told, report.Reused{RequesterID: m, Added: []uuid.UUID{m}[:draw.IntN(2)]})
	}
	told = append(told, started)
	if draw.IntN(4) == 0 {
		return append(told, report.Failed{Code: "render", Message: "failed"})
	}
	told = append(told, ready(minute(1000), members[:1+draw.IntN(3)]...))
	for _, m := range members {
		told = append(told, report.EmailFailed{MemberID: m, SMTPCode: 450}, report.EmailSent{MemberID: m, MessageID: "<1@muster>", SMTPCode: 250})
	}
	told = append(told, report.Expired{ExpiredAt: minute(1000)}, report.InputsErased{Rule: "retention"})
	return told[:len(told)-draw.IntN(7)]
}

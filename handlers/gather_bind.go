package handlers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/printable"
	"muster/internal/assessment"
	"muster/internal/assessment/logged"
	"muster/internal/report/snapshot"
)

// AlteredFactsError reports assessments that are not the ones that the log recorded.
type AlteredFactsError struct{ Altered []AlteredFact }

// AlteredFact is one of them.
type AlteredFact struct {
	Server string
	logged.Alteration
	Exception uuid.UUID // the altered exception; uuid.Nil: none
}

func (f AlteredFact) String() string {
	name, at := printable.Clean(f.Server), f.At.UTC().Format(time.RFC3339)
	switch {
	case f.Exception != uuid.Nil:
		return fmt.Sprintf("the exception %s is not the one that the log of the organization has", f.Exception)
	case f.Classified && f.Position == 0:
		return fmt.Sprintf("the log has no event of the classification of the databases of %s", name)
	case f.Classified:
		return fmt.Sprintf("the classification of the databases of %s is not the one that the log recorded (fleet:%d)", name, f.Position)
	case f.Gone:
		return fmt.Sprintf("the log (fleet:%d) recorded an assessment of %s at %s, which is no longer stored", f.Position, name, at)
	case f.Position == 0:
		return fmt.Sprintf("the log has no event of the assessment of %s at %s", name, at)
	}
	return fmt.Sprintf("the assessment of %s at %s is not the one that the log recorded (fleet:%d)", name, at, f.Position)
}

func (e *AlteredFactsError) Error() string {
	var sentences []string
	for _, f := range e.Altered {
		sentences = append(sentences, f.String())
	}
	return strings.Join(sentences, "; ")
}

// mostNamed bounds the assessments that a failure names.
const mostNamed = 5

// sentence is what the history says.
func (e *AlteredFactsError) sentence() string {
	named := e.Altered[:min(len(e.Altered), mostNamed)]
	text := (&AlteredFactsError{Altered: named}).Error()
	if more := len(e.Altered) - len(named); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return "The facts were altered: " + text + ". Somebody changed Muster's database, or a version of Muster from before wrote to it. " +
		"Ask the operator of Muster to find out who, have the server assessed again, and request the report again."
}

// bind holds the assessments in a document against the log, and names the event of each.
// Error: *AlteredFactsError.
func (g *Inputs) bind(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	var used []logged.Used
	of := map[uuid.UUID]*snapshot.Instance{}
	for i := range doc.Instances {
		instance := &doc.Instances[i]
		if instance.NotAssessed != "" { // the document says that there is none, and why
			continue
		}
		of[instance.ID] = instance
		u := logged.Used{Stored: assessment.Stored{Instance: instance.ID}, Classified: instance.ClassifiedSHA256}
		if l := instance.Logged; l != nil {
			u.ID, u.At, u.SHA256, u.Unreadable, u.MaxAge = l.ID, l.At, l.FactsSHA256, instance.Assessment == nil, maxAge
			u.Reached = u.Unreadable || instance.Assessment.Outcome != snapshot.OutcomeUnreachable
		}
		used = append(used, u)
	}
	if len(used) == 0 {
		return nil
	}
	bound, altered, err := g.Logged.Bind(ctx, in.OrganizationID, used, g.Now())
	if err != nil {
		return err
	}
	if len(altered) > 0 {
		if err := g.stillThere(ctx, in.OrganizationID, altered); err != nil {
			return err
		}
		failed := &AlteredFactsError{}
		for _, a := range altered {
			failed.Altered = append(failed.Altered, AlteredFact{Server: of[a.Instance].Name, Alteration: a})
		}
		slices.SortFunc(failed.Altered, func(a, b AlteredFact) int { return strings.Compare(a.String(), b.String()) })
		return failed
	}
	for id, e := range bound {
		if l := of[id].Logged; l != nil {
			at := e.RecordedAt.UTC()
			l.Event, l.RecordedAt, l.Late = e.Position, &at, e.Late()
		}
	}
	return nil
}

// stillThere returns an error, so that the report is built again, if a server was removed
// during the build: the data of its databases was deleted with it, and was not altered.
func (g *Inputs) stillThere(ctx context.Context, organization uuid.UUID, altered []logged.Alteration) error {
	var ids []uuid.UUID
	for _, a := range altered {
		if a.Classified {
			ids = append(ids, a.Instance)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	states, err := g.Facts.States(ctx, organization, ids)
	for _, id := range ids {
		if is := states[id]; err == nil && !is.Collected && !is.Fed {
			err = fmt.Errorf("instance %s was removed while the report was built", id)
		}
	}
	return err
}

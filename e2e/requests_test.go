package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
)

// row is a report as the API shows it.
type row struct {
	ID          uuid.UUID `json:"id"`
	Kind        string    `json:"kind"`
	Status      string    `json:"status"`
	DownloadURL string    `json:"downloadUrl"`
	File        *struct {
		Name      string `json:"name"`
		SHA256    string `json:"sha256"`
		Base      string `json:"baseSha256"`
		Signed    bool   `json:"signed"`
		SizeBytes int64  `json:"sizeBytes"`
		Pages     int    `json:"pages"`
	} `json:"file"`
	Error *struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	RecipientCount int         `json:"recipientCount"`
	Recipients     []recipient `json:"recipients"`
}

type recipient struct {
	ID       uuid.UUID `json:"id"`
	Email    string    `json:"email"`
	Delivery string    `json:"delivery"`
	SMTPCode *int      `json:"smtpCode"`
}

// over says whether the report is in a state that no worker will change.
func (r row) over() bool { return slices.Contains([]string{"Ready", "Failed", "Expired"}, r.Status) }

// wish is the body of a request for a report.
type wish struct {
	Kind  string `json:"kind"`
	Scope struct {
		InstanceIDs []uuid.UUID `json:"instanceIds,omitempty"`
		From        *time.Time  `json:"from,omitempty"`
		To          *time.Time  `json:"to,omitempty"`
	} `json:"scope"`
	RecipientIDs []uuid.UUID `json:"recipientIds,omitempty"`
}

func security(instances ...uuid.UUID) wish { return of("Security", instances...) }

func of(kind string, instances ...uuid.UUID) wish {
	w := wish{Kind: kind}
	w.Scope.InstanceIDs = instances
	return w
}

// scorecard wishes for one that differs from every other n's: by its window,
// which is counted from midnight, so that a minute that ends makes no two equal.
func scorecard(instance uuid.UUID, n int) wish {
	w := of("InstanceScorecard", instance)
	to := time.Now().UTC().Truncate(24 * time.Hour).Add(-time.Duration(n) * time.Minute)
	from := to.AddDate(0, 0, -7)
	w.Scope.From, w.Scope.To = &from, &to
	return w
}

// request asks for a report that nobody has asked for yet.
func (c client) request(t testing.TB, w wish) uuid.UUID {
	t.Helper()
	var made struct{ Report row }
	answer := c.call(t, http.StatusAccepted, http.MethodPost, "/api/v1/reports", w, &made)
	c.shown(t, answer, "/api/v1/reports/"+made.Report.ID.String())
	return made.Report.ID
}

// shown waits, as a client has to, for what an answer says was written before reads find it.
func (c client) shown(t testing.TB, written answer, path string) {
	t.Helper()
	if written.header.Get("X-Muster-Lagging") != "true" {
		return
	}
	eventually(t, path+" is found", func() bool {
		found, err := c.try(t.Context(), http.MethodGet, path, nil)
		return err == nil && found.status == http.StatusOK
	})
}

func (c client) report(t testing.TB, id uuid.UUID) (r row) {
	t.Helper()
	c.get(t, "/api/v1/reports/"+id.String(), &r)
	return r
}

// await waits until a report is over, and holds it to how.
func (c client) await(t testing.TB, id uuid.UUID, status string) (r row) {
	t.Helper()
	eventually(t, "report "+id.String()+" is over", func() bool {
		r = c.report(t, id)
		return r.over()
	})
	if r.Status != status {
		t.Fatalf("the report ended %s, want %s: %+v", r.Status, status, r)
	}
	return r
}

// signed waits until a report is Ready and its PDF has its second revision.
func (c client) signed(t testing.TB, id uuid.UUID) (r row) {
	t.Helper()
	c.await(t, id, "Ready")
	eventually(t, "the PDF of report "+id.String()+" is signed", func() bool {
		r = c.report(t, id)
		return r.File != nil && r.File.Signed
	})
	return r
}

// history is the ids of all reports of a kind that the history lists.
func (c client) history(t testing.TB, kind string) (ids []uuid.UUID) {
	t.Helper()
	for page := 1; ; page++ {
		var listed struct {
			Items []row
			Page  struct{ TotalPages int }
		}
		c.get(t, fmt.Sprintf("/api/v1/reports?kind=%s&page=%d", kind, page), &listed)
		for _, r := range listed.Items {
			ids = append(ids, r.ID)
		}
		if page >= listed.Page.TotalPages {
			return ids
		}
	}
}

// paper records a server that nothing can connect to.
func (c client) paper(t testing.TB, name string) uuid.UUID {
	t.Helper()
	var recorded struct{ Instances []struct{ ID uuid.UUID } }
	answer := c.call(t, http.StatusOK, http.MethodPost, "/ingest/v1/fleet", map[string]any{"instances": []map[string]any{{
		"externalId": name, "name": name, "engine": "postgresql", "createdAt": time.Now().UTC().AddDate(0, -1, 0),
	}}}, &recorded)
	id := recorded.Instances[0].ID
	c.shown(t, answer, "/api/v1/instances/"+id.String())
	return id
}

// watch registers a PostgreSQL that really runs.
func (c client) watch(t testing.TB, name, dsn string) uuid.UUID {
	t.Helper()
	var made struct{ ID uuid.UUID }
	answer := c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/instances",
		map[string]any{"name": name, "engine": "postgresql", "dsn": dsn, "separate": true}, &made)
	c.shown(t, answer, "/api/v1/instances/"+made.ID.String())
	return made.ID
}

// member invites somebody, who can receive reports from then on.
func (c client) member(t testing.TB, email, role string) uuid.UUID {
	t.Helper()
	var made struct{ Member struct{ ID uuid.UUID } }
	c.call(t, http.StatusCreated, http.MethodPost, "/api/v1/members",
		map[string]any{"email": email, "name": email, "role": role}, &made)
	return made.Member.ID
}

// as is the API as seen by a member.
func (i installed) as(t testing.TB, server *running, email string) client {
	t.Helper()
	minted := i.must(t, "token", "create", "--email", email)
	return client{base: server.base, token: minted[:len(minted)-1]}
}

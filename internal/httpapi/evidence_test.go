package httpapi

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/inventory"
	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/internal/proof/attest"
	"muster/internal/proof/pades"
	"muster/internal/report/control/evidence"
)

const evidencePath = "/api/v1/evidence"

// evidenceFor asks for evidence in a form; empty: JSON.
func (w *world) evidenceFor(as person, body any, accept string) answer {
	w.t.Helper()
	r := request{method: "POST", path: evidencePath, as: as, json: body}
	if accept != "" {
		r.header = map[string]string{"Accept": accept}
	}
	return w.do(r)
}

// TestMakeEvidence: an auditor gets the signed document in either form, and each is recorded.
func TestMakeEvidence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine := w.fed(w.ours, inventory.Item{ExternalID: "shop", Name: "shop", Engine: domain.PostgreSQL, CreatedAt: w.ago(100 * day)},
		inventory.Item{ExternalID: "desk", Name: "desk", Engine: domain.PostgreSQL, CreatedAt: w.ago(100 * day)})
	sender{w, w.ingestToken(w.ours.admin)}.send(assessmentsPath, sentBatch(w.of("shop", 2*time.Hour, passing("PG-S02")), w.of("shop", time.Hour, failing("PG-S02", "/dana")))).is(202)
	body := members{"check": "PG-S02", "from": w.ago(day), "to": w.ago(0)}

	given := w.evidenceFor(w.ours.auditor, body, "").is(200)
	signed, d, err := evidence.Parse(given.Body.Bytes())
	must(t, err)
	keys, err := w.deps.Signing.Keys(t.Context())
	must(t, err)
	if verdict, key := evidence.Check(signed, keys); verdict != attest.Holds {
		t.Errorf("it %s by key %s", verdict, key)
	}
	if d.Organization.ID != w.ours.organization.ID || len(d.Items) != 2 || d.Items[1].Instance.ID != mine["shop"] || len(d.Items[1].Assessments) != 2 || d.InstanceIDs != nil || len(d.Checkpoints) != 2 {
		t.Errorf("it is %+v", d)
	}
	if name := given.Header().Get("Content-Disposition"); !strings.Contains(name, `filename="PG-S02-`) || !strings.Contains(name, ".json") {
		t.Errorf("it is called %s", name)
	}

	body["instanceIds"] = []uuid.UUID{mine["desk"]}
	file := w.evidenceFor(w.ours.admin, body, "application/pdf, application/json;q=0.5").is(200)
	revisions, err := pades.Split(file.Body.Bytes())
	must(t, err)
	chain, err := keys.Of(attest.UsePDF)[0].Chain()
	must(t, err)
	if _, err := revisions.Verify([]*x509.Certificate{chain[0]}); err != nil {
		t.Errorf("the PDF's signature: %v", err)
	}
	attached, within, err := evidence.Parse(revisions.Proof)
	must(t, err)
	if len(within.Items) != 1 || fmt.Sprint(within.InstanceIDs) != fmt.Sprint([]uuid.UUID{mine["desk"]}) || bytes.Equal(revisions.Proof, given.Body.Bytes()) {
		t.Errorf("in the PDF is %+v", within)
	}

	var recorded []string
	for _, item := range w.get(w.ours.auditor, "/api/v1/audit-events?type=evidenceMade").is(200).object()["items"].([]any) {
		entry := item.(map[string]any)
		data := entry["data"].(map[string]any)
		recorded = append(recorded, fmt.Sprint(entry["actor"].(map[string]any)["name"], " ", entry["subjectId"], " ", data["checkId"], " ", data["sha256"], " ", data["instances"]))
	}
	want := []string{
		fmt.Sprint(w.ours.admin.Name, " ", within.ID, " PG-S02 ", attached.Digest(), " 1"), fmt.Sprint(w.ours.auditor.Name, " ", d.ID, " PG-S02 ", signed.Digest(), " <nil>"),
	}
	if strings.Join(recorded, "\n") != strings.Join(want, "\n") {
		t.Errorf("recorded is\n%s\nwant\n%s", strings.Join(recorded, "\n"), strings.Join(want, "\n"))
	}
	pages, text := file.Body.Bytes(), given.Body.Bytes()
	white := func(n int) []byte { return append(slices.Clone(text), bytes.Repeat([]byte{' '}, n)...) }
	unrecorded := d
	unrecorded.AsOf = d.AsOf.Add(time.Second)
	again, err := evidence.Sign(unrecorded, w.deps.Signing.Ring().ReportSigner())
	must(t, err)
	ours, err := again.Encode()
	must(t, err)
	verify := func(as person, file []byte) (said map[string]any, id string) {
		said = w.do(request{method: "POST", path: "/api/v1/reports/verify", as: as, body: string(file), header: map[string]string{"Content-Type": "application/pdf"}}).is(200).object()
		if e, ok := said["evidence"].(map[string]any); ok {
			id = fmt.Sprint(e["id"])
		}
		return said, id
	}
	for name, c := range map[string]struct {
		as    person
		file  []byte
		known string // the id of the evidence, or nothing
	}{
		"as JSON":                  {w.ours.viewer, text, d.ID.String()},
		"of 16 MiB":                {w.ours.viewer, white(16<<20 - len(text)), d.ID.String()},
		"of a byte more":           {w.ours.viewer, white(16<<20 - len(text) + 1), ""},
		"that is signed, not told": {w.ours.viewer, ours, ""},
		"as a PDF":                 {w.ours.viewer, pages, within.ID.String()},
		"that which the PDF has":   {w.ours.viewer, revisions.Proof, within.ID.String()},
		"of another organization":  {w.theirs.viewer, text, ""},
		"with another result":      {w.ours.viewer, bytes.Replace(text, []byte(`"fail`), []byte(`"pass`), 1), ""},
		"with another signature":   {w.ours.viewer, regexp.MustCompile(`("signature": ?")....`).ReplaceAll(text, []byte("${1}AAAA")), ""},
		"with another page":        {w.ours.viewer, bytes.Replace(pages, []byte("/MediaBox"), []byte("/MediaBux"), 1), ""},
		"with something behind it": {w.ours.viewer, append(slices.Clone(pages), "\n%more"...), ""},
	} {
		said, id := verify(c.as, c.file)
		if known := c.known != ""; said["known"] != known || id != c.known || known && said["chain"] != "ok" {
			t.Errorf("evidence %s: %v", name, said)
		}
	}

	// The event says who made it, too: changed, it is another one.
	w.deps.DB.MustExec(`ALTER TABLE events DISABLE TRIGGER USER`)
	w.deps.DB.MustExec(`UPDATE events SET metadata = convert_to(replace(convert_from(metadata, 'UTF8'), $2, $3), 'UTF8') WHERE stream_id = $1`,
		d.ID, w.ours.auditor.ID.String(), w.ours.admin.ID.String())
	if said, id := verify(w.ours.viewer, text); id != d.ID.String() || said["chain"] != "broken" {
		t.Errorf("evidence whose event was changed: %v", said)
	}

	if theirs := w.get(w.theirs.auditor, "/api/v1/audit-events?type=evidenceMade").is(200).object()["items"].([]any); len(theirs) != 0 {
		t.Errorf("another organization's list has %v", theirs)
	}
}

// TestEvidenceWithoutATimeStamp: where the service is away or slow, evidence is made without, says
// so to nobody but the log, and waits for it once.
func TestEvidenceWithoutATimeStamp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fed(w.ours, inventory.Item{ExternalID: "shop", Name: "shop", Engine: domain.PostgreSQL, CreatedAt: w.ago(100 * day)})
	asked := evidence.Request{Organization: w.ours.organization, Check: "PG-S02", From: w.clock.Now().Add(-day), To: w.clock.Now()}
	keys, err := w.deps.Signing.Keys(t.Context())
	must(t, err)
	for name, stamp := range map[string]func(context.Context) error{
		"away": func(context.Context) error { return errors.New("connection refused") },
		"slow": func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var times atomic.Int32
			maker := w.deps.evidence()
			maker.Stamp = func(ctx context.Context, _ []byte) ([]byte, error) {
				times.Add(1)
				return nil, stamp(ctx)
			}
			begun := time.Now()
			made, err := maker.Make(t.Context(), asked, func(context.Context, uuid.UUID, organization.EvidenceMade) error { return nil })
			must(t, err)
			pdf, err := maker.PDF(t.Context(), made, "A4")
			must(t, err)
			if took := time.Since(begun); took > 10*time.Second || times.Load() != 1 {
				t.Errorf("it took %s, and asked %d times", took, times.Load())
			}
			if verdict, _ := evidence.Check(made.Signed, keys); verdict != attest.Holds || made.Signed.Timestamp != nil || len(made.Document.Checkpoints) != 2 || made.Document.Checkpoints[0].Timestamp != nil {
				t.Errorf("it %s, with the time stamp %q and the checkpoints %+v", verdict, made.Signed.Timestamp, made.Document.Checkpoints)
			}
			if revisions, err := pades.Split(pdf); err != nil || !bytes.Equal(revisions.Proof, made.Text) {
				t.Errorf("the PDF has %d bytes attached, %v", len(revisions.Proof), err)
			}
		})
	}
}

// TestEvidenceIsRefused names all that is wrong, and what is foreign as what is unknown; nothing
// is recorded.
func TestEvidenceIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mine := w.fed(w.ours, inventory.Item{ExternalID: "shop", Name: "shop", Engine: domain.PostgreSQL, CreatedAt: w.ago(100 * day)})["shop"]
	theirs := w.fed(w.theirs, inventory.Item{ExternalID: "shop", Name: "shop", Engine: domain.PostgreSQL, CreatedAt: w.ago(100 * day)})["shop"]
	good := members{"check": "PG-S02", "from": w.ago(day), "to": w.ago(0)}
	for _, as := range []person{w.ours.viewer, w.ours.member} {
		w.evidenceFor(as, good, "").problem(403, "forbidden")
	}
	many := make([]uuid.UUID, 501)
	for name, c := range map[string]struct {
		change members
		want   string
	}{
		"all at once": {members{"check": "PG-X99", "from": w.ago(-3 * day), "to": w.ago(-2 * day), "instanceIds": []uuid.UUID{mine, theirs, uuid.Max}},
			"#/check unknown_check, #/from invalid_window, #/from window_in_future, #/instanceIds/1 instance_not_in_organization, #/instanceIds/2 instance_not_in_organization"},
		"too long":    {members{"from": w.ago(402 * day)}, "#/to out_of_range"},
		"no server":   {members{"instanceIds": []uuid.UUID{}}, "#/instanceIds out_of_range"},
		"too many":    {members{"instanceIds": many}, "#/instanceIds too_many_instances"},
		"foreign":     {members{"instanceIds": []uuid.UUID{theirs}}, "#/instanceIds/0 instance_not_in_organization"},
		"an instance": {members{"instanceIds": []uuid.UUID{mine}, "from": w.ago(0), "to": w.ago(0)}, "#/from invalid_window"},
	} {
		body := members{}
		for _, m := range []members{good, c.change} {
			for k, v := range m {
				body[k] = v
			}
		}
		p := w.evidenceFor(w.ours.auditor, body, "").is(422).object()
		var got []string
		for _, e := range p["errors"].([]any) {
			got = append(got, fmt.Sprint(e.(map[string]any)["pointer"], " ", e.(map[string]any)["code"]))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %s\nwant %s", name, strings.Join(got, ", "), c.want)
		}
	}
	for _, body := range []members{{"check": "PG-S02", "from": w.ago(day)}, {"check": 1, "from": "noon", "to": w.ago(0), "more": true}} {
		w.evidenceFor(w.ours.auditor, body, "").is(400)
	}
	w.evidenceFor(w.ours.auditor, good, "text/csv").problem(406, "not_acceptable")
	var n int
	must(t, w.deps.DB.Get(&n, `SELECT count(*) FROM events WHERE type = 'evidence.made'`))
	if n != 0 {
		t.Errorf("%d times evidence is said to have been made", n)
	}
}

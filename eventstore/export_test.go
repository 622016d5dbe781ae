package eventstore_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/eventstore"
	"muster/eventstore/witness"
	"muster/internal/testing/pgtest"
)

func export(t testing.TB, store *eventstore.Store, organization uuid.UUID) string {
	t.Helper()
	var file bytes.Buffer
	if _, err := store.Export(context.Background(), &file, eventstore.Reports, organization, nil); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

func TestExportOfOneOrganizationVerifiesOffline(t *testing.T) {
	t.Parallel()
	store := fill(t, pgtest.DB(t))
	file := export(t, store, theirs)
	// It shows only that our events exist.
	for _, secret := range []string{ours.String(), streamA.String(), streamB.String()} {
		if strings.Contains(file, secret) {
			t.Errorf("the export tells %s", secret)
		}
	}
	report, err := eventstore.VerifyExport(strings.NewReader(file), eventstore.VerifyOptions{})
	if err != nil || !report.OK() || report.Events != 9 || report.Own != 1 {
		t.Fatalf("got %+v, %v", report, err)
	}
}

func TestVerifyExportNamesTheMismatch(t *testing.T) {
	t.Parallel()
	store := fill(t, pgtest.DB(t))
	file := export(t, store, ours)
	lines := strings.SplitAfter(strings.TrimSuffix(file, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	head, err := store.Head(context.Background(), nil, eventstore.Reports)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name     string
		edit     func(l []string) []string
		misfit   eventstore.Misfit
		position int64
	}{
		{"untouched", func(l []string) []string { return l }, "", 0},
		{"data", func(l []string) []string { l[5] = strings.Replace(l[5], `\"n\":0`, `\"n\":1`, 1); return l }, eventstore.Altered, 5},
		{"recorded at", func(l []string) []string {
			l[4] = strings.Replace(l[4], `"recordedAt":"20`, `"recordedAt":"19`, 1)
			return l
		}, eventstore.Unchained, 4},
		{"a line removed", func(l []string) []string { return append(l[:3], l[4:]...) }, eventstore.Deleted, 3},
		{"the last line removed", func(l []string) []string { return l[:len(l)-1] }, eventstore.DeletedTail, 9},
		{"a line twice", func(l []string) []string { l[4] = l[3]; return l }, eventstore.Reordered, 3},
		{"the head", func(l []string) []string {
			l[0] = strings.Replace(l[0], fmt.Sprintf("%x", head.Hash), strings.Repeat("00", 32), 1)
			return l
		}, eventstore.HeadDiffers, 9},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			edited := strings.Join(tc.edit(append([]string(nil), lines...)), "")
			if (edited == file) != (tc.misfit == "") {
				t.Fatal("the edit did not do what it says")
			}
			report, err := eventstore.VerifyExport(strings.NewReader(edited), eventstore.VerifyOptions{Witness: &head})
			if err != nil {
				t.Fatal(err)
			}
			if f, _ := report.First(); f.Misfit != tc.misfit || f.Position != tc.position {
				t.Fatalf("first finding %v of %v", f, report.Findings)
			}
		})
	}
}

func TestVerifyExportRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	header := `{"format":"muster-export-1","head":{"log":"reports","position":1,"hash":"` + strings.Repeat("00", 32) + `"}}`
	for name, tc := range map[string]struct {
		file string
		line int64
	}{
		"empty":            {"", 1},
		"not JSON":         {"%PDF-1.7", 1},
		"another format":   {`{"format":"muster-export-3"}`, 1},
		"two heads":        {strings.Replace(header, `"head"`, `"head":{},"head"`, 1), 1},
		"one event as two": {header + "\n" + `{"position":1,"position":2}`, 2},
		"positions twice":  {`{"format":"muster-export-2","positions":"1-3,3","head":{"log":"reports","position":1,"hash":"` + strings.Repeat("00", 32) + `"}}`, 1},
		"a bad head":       {`{"format":"muster-export-1","head":{"position":1,"hash":"00"}}`, 1},
		"broken off":       {header + "\n" + `{"position":1,"dig`, 2},
		"a short digest":   {header + "\n" + `{"position":1,"recordedAt":"2026-11-20T12:00:00Z","digest":"00","hash":"00"}`, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := eventstore.VerifyExport(strings.NewReader(tc.file), eventstore.VerifyOptions{})
			wantEqual(t, "line", wantError[*eventstore.ExportFormatError](t, err).Line, tc.line)
		})
	}
}

// TestAnExportHidesNothing does to a signed export what its own bytes allow. Each of these
// was a valid file of muster-export-1.
func TestAnExportHidesNothing(t *testing.T) {
	t.Parallel()
	store := fill(t, pgtest.DB(t))
	public, private, _ := ed25519.GenerateKey(nil)
	var file bytes.Buffer
	if _, err := store.Export(t.Context(), &file, eventstore.Reports, ours, private); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(file.String(), "\n")
	contents := regexp.MustCompile(`,"event":\{.*\}\}`)
	opaque := func(line string) string { return contents.ReplaceAllString(line, "}") }
	for _, tc := range []struct {
		name   string
		edit   func(l []string)
		misfit eventstore.Misfit
		at     int64
		signed bool // the first line's signature still holds
	}{
		{"nothing", func([]string) {}, "", 0, true},
		{"a stream made opaque", func(l []string) {
			for i, line := range l {
				if strings.Contains(line, streamB.String()) {
					l[i] = opaque(line)
				}
			}
		}, eventstore.Hidden, 2, true},
		{"an event made opaque, later versions renumbered", func(l []string) {
			l[3] = opaque(l[3])
			for i, version := range map[int]int{5: 3, 7: 4, 9: 5} {
				l[i] = strings.Replace(l[i], fmt.Sprintf(`"version":%d`, version), fmt.Sprintf(`"version":%d`, version-1), 1)
			}
		}, eventstore.Hidden, 3, true},
		{"a space", func(l []string) { l[4] = " " + l[4] }, eventstore.FileDiffers, 9, true},
		{"two lines as one", func(l []string) { l[4] = strings.TrimSpace(l[4]) }, eventstore.FileDiffers, 9, true},
		{"the list of positions", func(l []string) {
			l[3] = opaque(l[3])
			l[0] = strings.Replace(l[0], `"positions":"1-3,5-9"`, `"positions":"1-2,5-9"`, 1)
		}, "", 0, false},
		{"the organization", func(l []string) { l[0] = strings.Replace(l[0], ours.String(), theirs.String(), 1) }, "", 0, false},
		{"the digest of the lines", func(l []string) {
			l[0] = regexp.MustCompile(`"body":"[0-9a-f]{8}`).ReplaceAllString(l[0], `"body":"00000000`)
		}, "", 0, false},
		{"the signature", func(l []string) {
			l[0] = regexp.MustCompile(`"signature":"[^"]+"`).ReplaceAllString(l[0], `"signature":"AAAA"`)
		}, "", 0, false},
		{"format 1", func(l []string) { l[0] = strings.Replace(l[0], "export-2", "export-1", 1) }, "", 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			edited := append([]string(nil), lines...)
			tc.edit(edited)
			if changed := strings.Join(edited, "") != file.String(); changed == (tc.name == "nothing") {
				t.Fatal("the edit did not do what it says")
			}
			r, err := eventstore.VerifyExport(strings.NewReader(strings.Join(edited, "")), eventstore.VerifyOptions{})
			if !tc.signed {
				wantError[*eventstore.SignatureError](t, err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if f, _ := r.First(); f.Misfit != tc.misfit || f.Position != tc.at {
				t.Errorf("first finding %v of %v", f, r.Findings)
			}
			if old := tc.name == "format 1"; r.Export.Whole == old || r.Export.PublicKey.Equal(public) == old {
				t.Errorf("it says of itself: %+v", r.Export)
			}
			if tc.name == "nothing" && r.Opaque() != 1 {
				t.Errorf("%d events are opaque", r.Opaque())
			}
		})
	}
}

// TestAnExportOfFormat1StaysVerifiable: its chain and its head, and not what it hides.
func TestAnExportOfFormat1StaysVerifiable(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("testdata/export-1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	r, err := eventstore.VerifyExport(bytes.NewReader(file), eventstore.VerifyOptions{})
	if err != nil || !r.OK() || r.Own != 8 || r.Export.Whole || r.Export.PublicKey == nil {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = eventstore.VerifyExport(bytes.NewReader(bytes.Replace(file, []byte(`"position":9`), []byte(`"position":8`), 1)), eventstore.VerifyOptions{})
	wantError[*eventstore.SignatureError](t, err)
}

func TestExportIsLossless(t *testing.T) {
	t.Parallel()
	store := eventstore.New(pgtest.DB(t))
	rapid.Check(t, func(t *rapid.T) {
		a := eventstore.Append{Organization: ours, StreamType: "report", Stream: uuid.New()}
		for range rapid.IntRange(1, 3).Draw(t, "events") {
			text := []byte(rapid.String().Draw(t, "text"))
			if rapid.Bool().Draw(t, "binary") {
				text = rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
			}
			a.Events = append(a.Events, eventstore.NewEvent{Type: "report.step", OccurredAt: noon, Data: text})
		}
		a.Metadata.ActorID = rapid.StringMatching(`[<>&\x{2028}\x{0000}a-z"\\]{0,8}`).Draw(t, "actor")
		if _, err := store.Append(context.Background(), eventstore.Reports, a); err != nil {
			t.Fatal(err)
		}
	})
	report, err := eventstore.VerifyExport(strings.NewReader(export(t, store, ours)), eventstore.VerifyOptions{})
	if err != nil || !report.OK() || report.Own != report.Events {
		t.Fatalf("got %+v, %v", report, err)
	}
}

func TestASignedHeadParsesAsWritten(t *testing.T) {
	t.Parallel()
	store := fill(t, pgtest.DB(t))
	head, err := store.Head(context.Background(), nil, eventstore.Reports)
	if err != nil {
		t.Fatal(err)
	}
	public, private, _ := ed25519.GenerateKey(nil)
	signed := eventstore.SignHead(private, head)
	line, err := eventstore.ParseSignedHead(signed.String())
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "signed text", line, signed)
	document, err := json.Marshal(signed)
	if err != nil {
		t.Fatal(err)
	}
	var decoded eventstore.SignedHead
	if err := json.Unmarshal(document, &decoded); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "signed JSON", decoded, signed)
	if err := eventstore.VerifySignedHead(public, decoded); err != nil {
		t.Fatal(err)
	}
	for _, printed := range []string{head.String(), signed.String(), string(document), signed.String() + "\n"} {
		parsed, err := eventstore.ParseWitness(printed)
		if err != nil {
			t.Fatalf("%s: %v", printed, err)
		}
		wantEqual(t, printed, parsed, head)
	}
}

func TestSignedHeadIsRefused(t *testing.T) {
	t.Parallel()
	public, private, _ := ed25519.GenerateKey(nil)
	other, _, _ := ed25519.GenerateKey(nil)
	head := eventstore.Head{Log: eventstore.Reports, Position: 7, Hash: bytes.Repeat([]byte{7}, 32)}
	for name, tc := range map[string]struct {
		key    ed25519.PublicKey
		change func(*eventstore.SignedHead)
	}{
		"another log":       {public, func(s *eventstore.SignedHead) { s.Head.Log = eventstore.Fleet }},
		"another position":  {public, func(s *eventstore.SignedHead) { s.Head.Position++ }},
		"another hash":      {public, func(s *eventstore.SignedHead) { s.Head.Hash = make([]byte, 32) }},
		"another signature": {public, func(s *eventstore.SignedHead) { s.Signature[0]++ }},
		"another key":       {other, func(*eventstore.SignedHead) {}},
		"its own key":       {other, func(s *eventstore.SignedHead) { s.PublicKey = other }},
		"no key":            {nil, func(*eventstore.SignedHead) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			signed := eventstore.SignHead(private, head)
			tc.change(&signed)
			wantError[*eventstore.SignatureError](t, eventstore.VerifySignedHead(tc.key, signed))
		})
	}
}

func TestParseWitnessRefuses(t *testing.T) {
	t.Parallel()
	_, private, _ := ed25519.GenerateKey(nil)
	sum := strings.Repeat("ab", 32)
	head, err := eventstore.ParseWitness("reports:7:" + sum)
	if err != nil {
		t.Fatal(err)
	}
	line := eventstore.SignHead(private, head).String()
	changed := strings.Replace(line, " 7:", " 8:", 1)
	_, err = eventstore.ParseWitness(changed)
	wantError[*eventstore.SignatureError](t, err)
	for _, text := range []string{
		"", "7", "alerts:7:" + sum, "7:" + sum[2:], "{", `{"head":{"position":7}}`,
		"muster-head-1", "muster-head-1 reports 7:" + sum, "muster-head-1 alerts 7:" + sum + " AA== AA==", line[:len(line)-3],
	} {
		_, err := eventstore.ParseWitness(text)
		wantError[*witness.FormatError](t, err)
	}
}

// TestAWitnessOfAnotherLog: positions of two logs are not compared.
func TestAWitnessOfAnotherLog(t *testing.T) {
	t.Parallel()
	store := fill(t, pgtest.DB(t))
	head, err := store.Head(context.Background(), nil, eventstore.Reports)
	if err != nil {
		t.Fatal(err)
	}
	other := head
	other.Log = eventstore.Fleet
	_, err = store.Verify(t.Context(), eventstore.Reports, eventstore.VerifyOptions{Witness: &other})
	wantError[*eventstore.OtherLogError](t, err)
	_, err = eventstore.VerifyExport(strings.NewReader(export(t, store, ours)), eventstore.VerifyOptions{Witness: &other})
	wantError[*eventstore.OtherLogError](t, err)
}

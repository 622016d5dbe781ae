package handlers_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"muster/domain/report"
	"muster/handlers"
	"muster/internal/report/pdf"
	"muster/internal/report/snapshot"
)

// storedInputs are the inputs of a Data Inventory of a filled demo.
func storedInputs(t *testing.T) []byte {
	t.Helper()
	file, err := os.Open("../internal/report/pdf/testdata/demo/inventory.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := snapshot.Decode(content)
	if err != nil {
		t.Fatal(err)
	}
	doc.Instances = doc.Instances[:1] // few pages are as good
	inputs, err := snapshot.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	return inputs
}

// TestInputsInHandAreEnough to build a report again, byte for byte, without log, database and
// store. The record decides what the comparison can say.
func TestInputsInHandAreEnough(t *testing.T) {
	t.Parallel()
	inputs := storedInputs(t)
	if bytes.Contains(inputs, []byte(`"owner":{`)) || bytes.Contains(inputs, []byte(`"owner":null`)) {
		t.Fatal("inputs from before owners got some")
	}
	renderer, err := pdf.New(pdf.Build{Version: "1.0", Commit: "c0ffee"})
	if err != nil {
		t.Fatal(err)
	}
	other, err := pdf.New(pdf.Build{Version: "2.0", Commit: "beef"})
	if err != nil {
		t.Fatal(err)
	}
	build := func(r handlers.Renderer, inputs []byte, recorded *handlers.Recorded) (handlers.RebuildOutcome, []byte, error) {
		var out bytes.Buffer
		o, err := (&handlers.Rebuilder{Parts: handlers.Parts{Renderer: r}}).RebuildInputs(inputs, recorded, &out)
		return o, out.Bytes(), err
	}
	first, file, err := build(renderer, inputs, nil)
	if err != nil || first.Verdict != handlers.Built || first.SHA256 != snapshot.Digest(file) || !bytes.HasPrefix(file, []byte("%PDF-")) {
		t.Fatalf("held against nothing: %+v, %v", first, err)
	}
	table := &handlers.Rebuilder{Parts: handlers.Parts{Renderer: renderer}, File: report.InventoryFile}
	var rows bytes.Buffer
	if _, err := table.RebuildInputs(inputs, nil, &rows); err != nil {
		t.Fatal(err)
	}
	proven := func(change func(*handlers.Recorded)) *handlers.Recorded {
		r := &handlers.Recorded{Whole: true, Ready: report.Ready{
			PDFSHA256: first.SHA256, InputsSHA256: snapshot.Digest(inputs), Renderer: renderer.Identity(), FileName: "x.pdf",
			Files: []report.File{{Name: report.InventoryFile, SHA256: snapshot.Digest(rows.Bytes())}},
		}}
		change(r)
		return r
	}
	digest := func(sum string) *handlers.Recorded { return &handlers.Recorded{Ready: report.Ready{PDFSHA256: sum}} }
	newer := bytes.Replace(inputs, []byte(`{"schema":`), []byte(`{"schema":9`), 1)
	for name, c := range map[string]struct {
		renderer handlers.Renderer
		inputs   []byte
		recorded *handlers.Recorded
		verdict  handlers.RebuildVerdict
		says     string
	}{
		"its digest":                 {renderer, inputs, digest(first.SHA256), handlers.Identical, first.SHA256},
		"another digest":             {renderer, inputs, digest(strings.Repeat("ab", 32)), handlers.Differs, "this is version 1.0 (commit c0ffee), and only the report's proof says which one built it"},
		"its proof":                  {renderer, inputs, proven(func(*handlers.Recorded) {}), handlers.Identical, "inventory.csv"},
		"its proof, another version": {other, inputs, proven(func(*handlers.Recorded) {}), handlers.OtherRenderer, "Run version 1.0 (commit c0ffee"},
		"another report's proof":     {renderer, inputs, proven(func(r *handlers.Recorded) { r.Ready.InputsSHA256 = strings.Repeat("ab", 32) }), handlers.InputsMismatch, "they were changed, or are another report's"},
		"a proof of another PDF":     {renderer, inputs, proven(func(r *handlers.Recorded) { r.Ready.PDFSHA256 = strings.Repeat("ab", 32) }), handlers.Differs, "differs"},
		"a proof of another table":   {renderer, inputs, proven(func(r *handlers.Recorded) { r.Ready.Files[0].SHA256 = strings.Repeat("ab", 32) }), handlers.Differs, "inventory.csv"},
		"a proof that does not fit":  {renderer, inputs, proven(func(r *handlers.Recorded) { r.Fault = "The event names another PDF." }), handlers.RecordAltered, "names another PDF"},
		"a newer version's inputs and proof": {renderer, newer, proven(func(r *handlers.Recorded) {
			r.Ready.InputsSHA256, r.Ready.Renderer = snapshot.Digest(newer), other.Identity()
		}), handlers.OtherRenderer, "Run version 2.0"},
	} {
		o, _, err := build(c.renderer, c.inputs, c.recorded)
		if err != nil || o.Verdict != c.verdict || !strings.Contains(o.String(), c.says) {
			t.Errorf("%s: %s %q, %v; want %s with %q", name, o.Verdict, o, err, c.verdict, c.says)
		}
	}
	for name, wrong := range map[string][]byte{
		"nothing":            nil,
		"no JSON":            []byte("%PDF-1.4"),
		"a proof.json":       []byte(`{"format":"muster-proof-1"}`),
		"an empty document":  []byte(`{"schema":3}`),
		"a newer version's":  newer,
		"with a line end":    append(bytes.Clone(inputs), '\n'),
		"with more":          append(bytes.Clone(inputs), "{}"...),
		"with another field": bytes.Replace(inputs, []byte(`{"schema":3,`), []byte(`{"schema":3,"x":1,`), 1),
		"half":               inputs[:len(inputs)/2],
	} {
		o, file, err := build(renderer, wrong, nil)
		var refused *handlers.NoInputsError
		if !errors.As(err, &refused) || len(file) > 0 {
			t.Errorf("%s: %+v with %d bytes, %v", name, o, len(file), err)
		}
	}
	table.File = report.FindingsFile
	var none *handlers.NoSuchFileError
	if _, err := table.RebuildInputs(inputs, nil, io.Discard); !errors.As(err, &none) {
		t.Errorf("the table of another kind: %v", err)
	}
}

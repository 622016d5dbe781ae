package pdf_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
)

var (
	address = regexp.MustCompile(`/S /URI /URI \(([^)]*)\)`)
	stream  = regexp.MustCompile(`/Subtype /XML /Length (\d+) >>\nstream\n`)
)

// addresses are where a document leads.
func addresses(file []byte) map[string]bool {
	out := map[string]bool{}
	for _, m := range address.FindAllSubmatch(file, -1) {
		out[string(m[1])] = true
	}
	return out
}

func TestLinksOfDocuments(t *testing.T) {
	t.Parallel()
	r, doc := renderer(t), snapshottest.Rich(report.Security)
	file, _ := render(t, r, doc)
	for _, want := range []string{
		"https://muster.example.org/reports/" + doc.ReportID.String(), "https://www.cve.org/CVERecord?id=CVE-2024-10979", "https://www.cisecurity.org/cis-benchmarks",
	} {
		if !addresses(file)[want] {
			t.Errorf("nothing leads to %s: %v", want, addresses(file))
		}
	}
	doc.PublicURL = ""
	for i := range doc.Checks {
		doc.Checks[i].References = []string{"javascript:alert(1)", "file:///etc/passwd", "https://user:word@evil.example/", "https://docs.example/a b) >>", "no address"}
	}
	file, _ = render(t, r, doc)
	for got := range addresses(file) {
		if got != "https://docs.example/a%20b%29%20%3E%3E" && !bytes.HasPrefix([]byte(got), []byte("https://www.cve.org/")) {
			t.Errorf("something leads to %q", got)
		}
	}
}

// A reader of outlines finds each server in the section on coverage.
func TestInstancesAreInTheOutline(t *testing.T) {
	t.Parallel()
	doc := snapshottest.Rich(report.Security)
	file, _ := render(t, renderer(t), doc)
	for _, in := range doc.Instances {
		if !bytes.Contains(file, append([]byte("/Title (\xfe\xff"), utf16(in.Name)...)) {
			t.Errorf("%s is not in the outline", in.Name)
		}
	}
}

// The table of references names where each object is, also behind what was put into
// the catalog, and the last line names where the table is. Readers repair what is
// wrong there, and say nothing.
func TestTheTableOfReferencesIsCorrect(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		for name, doc := range documents(kind) {
			file, _ := render(t, renderer(t), doc)
			foot := regexp.MustCompile(`startxref\n(\d+)\n%%EOF\n$`).FindSubmatch(file)
			if foot == nil {
				t.Fatalf("%s %s: no end", kind, name)
			}
			at, _ := strconv.Atoi(string(foot[1]))
			table := regexp.MustCompile(`^xref\n0 (\d+)\n`).FindSubmatch(file[at:])
			if table == nil {
				t.Fatalf("%s %s: startxref leads to %.20q", kind, name, file[at:])
			}
			n, _ := strconv.Atoi(string(table[1]))
			entries := file[at+len(table[0]):]
			for i := 1; i < n; i++ {
				offset, _ := strconv.Atoi(string(entries[20*i : 20*i+10]))
				if object := fmt.Sprintf("%d 0 obj\n", i); !bytes.HasPrefix(file[offset:], []byte(object)) {
					t.Errorf("%s %s: object %d is not at %d", kind, name, i, offset)
				}
			}
		}
	}
}

func TestDocumentsSayTheirLanguageAndTitle(t *testing.T) {
	t.Parallel()
	for name, doc := range map[string]snapshot.Document{"rich": snapshottest.Rich(report.Security), "hostile": snapshottest.Hostile(report.Security)} {
		file, _ := render(t, renderer(t), doc)
		if !bytes.HasPrefix(file, []byte("%PDF-1.7\n")) || !bytes.Contains(file, []byte("/Lang (en)\n")) || !bytes.Contains(file, []byte("/DisplayDocTitle true")) {
			t.Errorf("%s: no language, or the title is not shown", name)
		}
		named := regexp.MustCompile(`/Metadata (\d+) 0 R`).FindSubmatch(file)
		found := stream.FindSubmatchIndex(file)
		if named == nil || found == nil || !bytes.HasSuffix(file[:found[0]], append(named[1], " 0 obj\n<< /Type /Metadata "...)) {
			t.Fatalf("%s: the catalog does not name the packet", name)
		}
		length, _ := strconv.Atoi(string(file[found[2]:found[3]]))
		packet := xml.NewDecoder(bytes.NewReader(file[found[1] : found[1]+length]))
		words := map[string]string{}
		var in string
		for {
			token, err := packet.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: the packet is no XML: %v", name, err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				in = token.Name.Local
			case xml.CharData:
				words[in] += string(bytes.TrimSpace(token))
			}
		}
		if words["CreateDate"] != "2026-11-20T12:00:00Z" || words["CreatorTool"] != "Muster 1.0.0 (0123abcd)" {
			t.Errorf("%s: the packet says %v", name, words)
		}
	}
}

package records

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/internal/assessment/feed"
	"muster/internal/engine"
)

// MaxBytes is how much a file may be, and unpack to.
const MaxBytes = 1 << 30

// maxProblems is how many are reported; a file that is no JSON at all has one.
const maxProblems = 500

// Contents is what a file says.
type Contents struct {
	Records  []feed.Record // one an engine and id, in the order of the file
	Problems []feed.Problem
	Passed   int // records about what the feed does not know
}

// Read reads a file whole. Everything that is wrong with it is a Problem. Of engines, if
// any are named, all others are passed over.
func Read(file []byte, engines ...fleet.Engine) Contents {
	r := reader{at: map[string]int{}, engines: engines}
	if bytes.HasPrefix(file, []byte("PK\x03\x04")) || bytes.HasPrefix(file, []byte("PK\x05\x06")) {
		r.readZip(file)
	} else {
		r.read("", file)
	}
	if len(r.Records)+len(r.Problems)+r.Passed == 0 {
		r.broken("the file", "empty", "it has no record")
	}
	return r.Contents
}

// Engines are those whose records can be read.
func Engines() (names []fleet.Engine) {
	for _, e := range engine.All() {
		if e.Feed != nil && e.Feed.Package != "" {
			names = append(names, e.Name)
		}
	}
	return names
}

type reader struct {
	Contents
	at      map[string]int // of a record by engine and id
	engines []fleet.Engine // that are wanted; none: all
}

func (r *reader) wants(engine fleet.Engine) bool {
	return len(r.engines) == 0 || slices.Contains(r.engines, engine)
}

func (r *reader) broken(record, rule, format string, args ...any) {
	if len(r.Problems) < maxProblems {
		r.Problems = append(r.Problems, feed.Problem{Record: record, Rule: rule, Words: fmt.Sprintf(format, args...)})
	}
}

func (r *reader) readZip(file []byte) {
	archive, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		r.broken("the file", "zip", "%v", err)
		return
	}
	left := int64(MaxBytes)
	for _, entry := range archive.File {
		if entry.FileInfo().IsDir() || !strings.HasSuffix(entry.Name, ".json") {
			continue
		}
		text, err := unpack(entry, left)
		if err != nil {
			r.broken(entry.Name, "zip", "%v", err)
			if errors.Is(err, errTooLarge) {
				return
			}
			continue
		}
		left -= int64(len(text))
		r.read(entry.Name, text)
	}
}

var errTooLarge = fmt.Errorf("the archive unpacks to more than %d bytes", MaxBytes)

func unpack(entry *zip.File, left int64) (text []byte, err error) {
	in, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	text, err = io.ReadAll(io.LimitReader(in, left+1))
	if err == nil && int64(len(text)) > left {
		return nil, errTooLarge
	}
	return text, err
}

// read reads JSON values after each other; an array is what it holds.
func (r *reader) read(name string, text []byte) {
	in := json.NewDecoder(bytes.NewReader(text))
	for n := 1; ; n++ {
		place := strings.TrimSpace(name + fmt.Sprintf(" record %d", n))
		var one json.RawMessage
		err := in.Decode(&one)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			r.broken(place, "json", "%v, at byte %d", err, in.InputOffset())
			return
		}
		if one[0] != '[' {
			r.take(place, one)
			continue
		}
		var list []json.RawMessage
		if err := json.Unmarshal(one, &list); err != nil {
			r.broken(place, "json", "%v", err)
			continue
		}
		for i, member := range list {
			r.take(fmt.Sprintf("%s, member %d", place, i+1), member)
		}
	}
}

// take reads one record of either form.
func (r *reader) take(place string, text json.RawMessage) {
	var form struct {
		DataType string `json:"dataType"`
		ID       string `json:"id"`
		Modified string `json:"modified"`
	}
	if err := json.Unmarshal(text, &form); err != nil {
		r.broken(place, "json", "%v", err)
		return
	}
	var found []feed.Record
	var problems []feed.Problem
	switch {
	case form.DataType == "CVE_RECORD":
		found, problems = r.readCVE(place, text)
	case form.ID != "" && form.Modified != "":
		found, problems = r.readOSV(form.ID, text)
	default:
		r.broken(place, "form", "it is neither a record of OSV nor one of the CVE list")
		return
	}
	if len(found)+len(problems) == 0 {
		r.Passed++
	}
	for _, p := range problems {
		r.broken(p.Record, p.Rule, "%s", p.Words)
	}
	for _, one := range found {
		r.add(one)
	}
}

// add keeps a record, once.
func (r *reader) add(one feed.Record) {
	key := string(one.Engine) + " " + one.ID
	i, twice := r.at[key]
	if !twice {
		r.at[key] = len(r.Records)
		r.Records = append(r.Records, one)
		return
	}
	was := r.Records[i]
	if !slices.Equal(was.Affected, one.Affected) || was.CVSS != one.CVSS || was.Vector != one.Vector || was.Withdrawn != one.Withdrawn {
		r.broken(one.ID, "contradiction", "it is in the file twice: %s of %s, and %s of %s", strings.Join(was.Affected, " "), was.Source, strings.Join(one.Affected, " "), one.Source)
	}
}

// instantOf reads a time of either form; that of the CVE list may lack its zone.
func instantOf(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no time", text)
}

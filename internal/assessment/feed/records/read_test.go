package records_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/domain/fleet"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/feed/records"
)

// As Bitnami's database and the CVE list have them, without what is not read.
const (
	mongo = `{"schema_version":"1.6.2","id":"BIT-mongodb-2026-9752","summary":"GeometryCollection with strict-winding polygon causes server crash","aliases":["CVE-2026-9752"],
		"affected":[{"package":{"ecosystem":"Bitnami","name":"mongodb"},"severity":[{"type":"CVSS_V4","score":"CVSS:4.0/AV:N/AC:L/AT:N/PR:L/UI:N/VC:N/VI:N/VA:H/SC:N/SI:N/SA:N/E:X/CR:X"}],
		"ranges":[{"type":"SEMVER","events":[{"introduced":"7.0.0"},{"fixed":"7.0.35"},{"introduced":"8.0.0"},{"fixed":"8.0.24"},{"introduced":"8.2.0"},{"fixed":"8.2.10"},{"introduced":"8.3.0"},{"fixed":"8.3.3"}]}]}],
		"published":"2026-06-22T05:47:25.658Z","modified":"2026-06-22T06:07:36.958Z"}`
	postgres = `{"schema_version":"1.6.2","id":"BIT-postgresql-2026-6638","summary":"PostgreSQL REFRESH PUBLICATION allows SQL injection via table name","aliases":["CVE-2026-6638"],
		"affected":[{"package":{"ecosystem":"Bitnami","name":"postgresql"},"severity":[{"type":"CVSS_V3","score":"CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H"}],
		"ranges":[{"type":"SEMVER","events":[{"introduced":"16.0.0"},{"fixed":"16.14.0"},{"introduced":"17.0.0"},{"fixed":"17.10.0"},{"introduced":"18.0.0"},{"fixed":"18.4.0"}]}]}],
		"published":"2026-05-18T05:53:12.118Z","modified":"2026-05-19T09:16:23.954Z"}`
	elsewhere = `{"id":"GHSA-1","modified":"2026-01-01T00:00:00Z","aliases":["CVE-2026-1"],"affected":[{"package":{"ecosystem":"Debian:12","name":"postgresql-15"}}]}`
	project   = `{"dataType":"CVE_RECORD","dataVersion":"5.2","cveMetadata":{"cveId":"CVE-2026-6473","state":"PUBLISHED","assignerShortName":"PostgreSQL",
		"datePublished":"2026-05-14T13:00:09.446Z","dateUpdated":"2026-05-14T13:40:17.936Z"},"containers":{"cna":{"title":"PostgreSQL server undersizes allocations, via integer wraparound",
		"affected":[{"defaultStatus":"unaffected","product":"PostgreSQL","vendor":"n/a","versions":[{"lessThan":"18.4","status":"affected","version":"18"},{"lessThan":"17.10","status":"affected","version":"17"},
		{"lessThan":"16.14","status":"affected","version":"16"},{"lessThan":"15.18","status":"affected","version":"15"},{"lessThan":"14.23","status":"affected","version":"0"}]}],
		"metrics":[{"cvssV3_1":{"version":"3.1","vectorString":"CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H","baseScore":8.8}}]}}}`
	oracle = `{"dataType":"CVE_RECORD","cveMetadata":{"cveId":"CVE-2026-2","state":"PUBLISHED","assignerShortName":"oracle","dateUpdated":"2026-05-14T13:40:17"},
		"containers":{"cna":{"affected":[{"product":"MySQL Server","versions":[{"version":"8.0.36 and prior","status":"affected"}]}]}}}`
)

func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range files {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func line(text string) string {
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(text)); err != nil {
		panic(err)
	}
	return out.String() + "\n"
}

// A file says the same in each of its forms.
func TestEveryFormOfAFileIsReadTheSame(t *testing.T) {
	t.Parallel()
	all := []string{mongo, postgres, elsewhere, project, oracle}
	one := records.Read([]byte(strings.Join(all, "\n")))
	if len(one.Problems) > 0 || len(one.Records) != 3 || one.Passed != 2 {
		t.Fatalf("%+v", one)
	}
	want := []feed.Record{
		{Engine: fleet.MongoDB, ID: "CVE-2026-9752", CVSS: 7.1, Vector: "CVSS:4.0/AV:N/AC:L/AT:N/PR:L/UI:N/VC:N/VI:N/VA:H/SC:N/SI:N/SA:N",
			Title: "GeometryCollection with strict-winding polygon causes server crash", Affected: []string{"7.0.0..<7.0.35", "8.0.0..<8.0.24", "8.2.0..<8.2.10", "8.3.0..<8.3.3"},
			Published: time.Date(2026, 6, 22, 5, 47, 25, 658_000_000, time.UTC), Modified: time.Date(2026, 6, 22, 6, 7, 36, 958_000_000, time.UTC), Source: "OSV BIT-mongodb-2026-9752"},
		{Engine: fleet.PostgreSQL, ID: "CVE-2026-6638", CVSS: 8.8, Vector: "CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H",
			Title: "PostgreSQL REFRESH PUBLICATION allows SQL injection via table name", Affected: []string{"16.14", "17.10", "18.4"},
			Published: time.Date(2026, 5, 18, 5, 53, 12, 118_000_000, time.UTC), Modified: time.Date(2026, 5, 19, 9, 16, 23, 954_000_000, time.UTC), Source: "OSV BIT-postgresql-2026-6638"},
		{Engine: fleet.PostgreSQL, ID: "CVE-2026-6473", CVSS: 8.8, Vector: "CVSS:3.1/AV:N/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H",
			Title: "PostgreSQL server undersizes allocations, via integer wraparound", Affected: []string{"14.23", "15.18", "16.14", "17.10", "18.4"},
			Published: time.Date(2026, 5, 14, 13, 0, 9, 446_000_000, time.UTC), Modified: time.Date(2026, 5, 14, 13, 40, 17, 936_000_000, time.UTC), Source: "CVE list, PostgreSQL"},
	}
	if diff := cmp.Diff(want, one.Records); diff != "" {
		t.Error(diff)
	}
	files := map[string]string{}
	lines := ""
	for i, text := range all {
		files[fmt.Sprintf("%d.json", i)] = text
		lines += line(text)
	}
	for form, file := range map[string][]byte{
		"array": []byte("[" + strings.Join(all, ",") + "]"), "lines": []byte(lines), "twice": []byte(lines + lines), "zip of one": zipped(t, map[string]string{"all.json": lines, "README.md": "no"}),
	} {
		got := records.Read(file)
		if diff := cmp.Diff(want, got.Records); diff != "" || len(got.Problems) > 0 {
			t.Errorf("%s: %s %v", form, diff, got.Problems)
		}
	}
	if got := records.Read(zipped(t, files)); len(got.Records) != 3 || got.Passed != 2 || len(got.Problems) > 0 {
		t.Errorf("zip: %+v", got)
	}
}

// Each fault is named with its record and rule, and those beside it are, too.
func TestEachFaultIsNamedWithItsRecordAndRule(t *testing.T) {
	t.Parallel()
	changed := func(text, from, to string) string {
		if !strings.Contains(text, from) {
			t.Fatalf("%q is not there", from)
		}
		return strings.Replace(text, from, to, 1)
	}
	for name, test := range map[string]struct{ file, record, rule string }{
		"empty":            {"", "the file", "empty"},
		"no JSON":          {"<html>", "record 1", "json"},
		"cut off":          {mongo[:200], "record 1", "json"},
		"cut off later":    {line(mongo) + postgres[:90], "record 2", "json"},
		"neither form":     {`{"name":"x"}`, "record 1", "form"},
		"a number":         {`[7]`, "record 1, member 1", "json"},
		"no archive":       {"PK\x03\x04 and no more", "the file", "zip"},
		"twice, otherwise": {mongo + changed(mongo, "7.0.35", "7.0.36"), "CVE-2026-9752", "contradiction"},
		"of both forms":    {project + changed(changed(postgres, "CVE-2026-6638", "CVE-2026-6473"), "16.14.0", "16.13.0"), "CVE-2026-6473", "contradiction"},
		"no CVE":           {changed(mongo, `"CVE-2026-9752"`, `"X-1"`), "BIT-mongodb-2026-9752", "id"},
		"no score":         {changed(mongo, "CVSS_V4", "X")[:0] + changed(mongo, "CVSS:4.0/AV:N", "AV:N"), "BIT-mongodb-2026-9752", "score"},
		"bad vector":       {changed(mongo, "AV:N", "AV:Q"), "BIT-mongodb-2026-9752", "score"},
		"score and vector": {changed(project, "8.8", "9.8"), "CVE-2026-6473", "score"},
		"bad time":         {changed(mongo, "2026-06-22T06:07:36.958Z", "yesterday"), "BIT-mongodb-2026-9752", "modified"},
		"open range":       {changed(mongo, `,{"fixed":"8.3.3"}`, ""), "BIT-mongodb-2026-9752", "range"},
		"fixed first":      {changed(mongo, `{"introduced":"7.0.0"},`, ""), "BIT-mongodb-2026-9752", "range"},
		"never ended":      {changed(mongo, `{"fixed":"7.0.35"},`, ""), "BIT-mongodb-2026-9752", "range"},
		"over majors":      {changed(postgres, "16.14.0", "17.2.0"), "BIT-postgresql-2026-6638", "range"},
		"before it began":  {changed(postgres, `"introduced":"16.0.0"`, `"introduced":"16.15.0"`), "BIT-postgresql-2026-6638", "range"},
		"no release":       {changed(project, `"lessThan":"18.4",`, ""), "CVE-2026-6473", "range"},
		"a beta":           {changed(project, `"18.4"`, `"18beta1"`), "CVE-2026-6473", "range"},
	} {
		got := records.Read([]byte(test.file))
		if len(got.Problems) != 1 || got.Problems[0].Record != test.record || got.Problems[0].Rule != test.rule || got.Problems[0].Words == "" {
			t.Errorf("%s: %v", name, got.Problems)
		}
	}
	narrowed := records.Read([]byte(changed(postgres, "16.14.0", "17.2.0")+changed(project, "8.8", "9.8")+mongo), fleet.MongoDB, fleet.MySQL)
	if len(narrowed.Problems) != 0 || len(narrowed.Records) != 1 || narrowed.Passed != 2 {
		t.Errorf("of MongoDB and MySQL: %+v", narrowed)
	}
	both := records.Read([]byte(changed(mongo, "AV:N", "AV:Q") + changed(project, "8.8", "9.8") + postgres))
	if len(both.Problems) != 2 || len(both.Records) != 1 {
		t.Errorf("%+v", both)
	}
	withdrawn := records.Read([]byte(changed(mongo, `"modified"`, `"withdrawn":"2026-07-01T00:00:00Z","modified"`) + changed(project, "PUBLISHED", "REJECTED")))
	if len(withdrawn.Problems) > 0 || len(withdrawn.Records) != 2 || !withdrawn.Records[0].Withdrawn || !withdrawn.Records[1].Withdrawn {
		t.Errorf("%+v", withdrawn)
	}
}

// The key and signatures are those of minisign's own tool, of the file "test": signed as
// it is, and by its hash.
func TestSignaturesOfMinisign(t *testing.T) {
	t.Parallel()
	const key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3"
	const plain = "untrusted comment: signature from minisign secret key\nRWQf6LRCGA9i59SLOFxz6NxvASXDJeRtuZykwQepbDEGt87ig1BNpWaVWuNrm73YiIiJbq71Wi+dP9eKL8OC351vwIasSSbXxwA=\n" +
		"trusted comment: timestamp:1635442742\tfile:test\n0YteLgV960ia80vnA/fHbvkyjl/IoP/HNOCaZfrF0CdhAlp7ok+Tpkya+VpWPX5C/Is3q8a/kEDSY7fBmmgJCg==\n"
	const hashed = "untrusted comment: signature from minisign secret key\nRUQf6LRCGA9i559r3g7V1qNyJDApGip8MfqcadIgT9CuhV3EMhHoN1mGTkUidF/z7SrlQgXdy8ofjb7bNJJylDOocrCo8KLzZwo=\n" +
		"trusted comment: timestamp:1635443258\tfile:test\thashed\n/cj37GK60vryibFn+ftOgbCvW9NKhKYgjVpFFQUcWPAnjO23wrvVDTt7cloNC06maoBli9q6qwZDXXoaxweICQ==\n"
	public, err := records.ParseKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, signature := range []string{plain, hashed, strings.ReplaceAll(plain, "\n", "\r\n")} {
		comment, err := records.CheckSignature([]byte("test"), signature, public)
		if err != nil || !strings.HasPrefix(comment, "timestamp:16354") {
			t.Errorf("%q, %v", comment, err)
		}
		if _, err := records.CheckSignature([]byte("Test"), signature, public); !errors.Is(err, records.ErrForged) {
			t.Errorf("another file: %v", err)
		}
		if _, err := records.CheckSignature([]byte("test"), strings.Replace(signature, "file:test", "file:best", 1), public); !errors.Is(err, records.ErrForged) {
			t.Errorf("another comment: %v", err)
		}
		other := public
		other.KeyId[0]++
		if _, err := records.CheckSignature([]byte("test"), signature, other); !errors.Is(err, records.ErrForged) || !strings.Contains(err.Error(), "E7620F1842B4E81F") {
			t.Errorf("another key: %v", err)
		}
	}
	if _, err := records.CheckSignature([]byte("test"), "none", public); err == nil {
		t.Error("no signature passes")
	}
	for _, wrong := range []string{"", "RWQ", key[4:]} {
		if _, err := records.ParseKey(wrong); err == nil {
			t.Errorf("%q is a key", wrong)
		}
	}
}

func TestDigests(t *testing.T) {
	t.Parallel()
	const digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" // of "test", by sha256sum
	if err := records.CheckDigest([]byte("test"), strings.ToUpper(digest)); err != nil {
		t.Error(err)
	}
	if err := records.CheckDigest([]byte("test "), digest); !errors.Is(err, records.ErrForged) {
		t.Error(err)
	}
	if err := records.CheckDigest([]byte("test"), digest[1:]); err == nil || errors.Is(err, records.ErrForged) {
		t.Error(err)
	}
	for text, ok := range map[string]bool{
		digest: true, digest + "  osv.zip\n": true, digest + " *osv.zip": true, digest + "  /tmp/osv.zip": true, "0 no\n" + digest + "  osv.zip\n": true,
		"": false, digest + "  other.zip": false, digest + "\n" + digest: false, digest[1:] + "  osv.zip": false,
	} {
		if got, err := records.DigestIn(text, "/data/osv.zip"); (err == nil) != ok || ok && got != digest {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

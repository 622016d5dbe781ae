package zones_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"muster/internal/process/zones"
)

var update = flag.Bool("update", false, "make zoneinfo.zip of testdata/tzdata.zi")

// compiled is a file of zones that zic makes of testdata/tzdata.zi.
func compiled(t *testing.T) string {
	t.Helper()
	zic, err := exec.LookPath("zic")
	if err != nil {
		if zic, err = exec.LookPath("/usr/sbin/zic"); err != nil {
			t.Skip("needs zic (Debian: libc-bin)")
		}
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), zic, "-b", "slim", "-d", dir, "testdata/tzdata.zi").CombinedOutput(); err != nil {
		t.Fatalf("zic: %v\n%s", err, out)
	}
	return dir
}

// names are the zones of a directory.
func names(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

// TestTheEmbeddedZonesMatchTheirSource: zoneinfo.zip is compared with testdata/tzdata.zi, which zic compiles
// and Python reads.
func TestTheEmbeddedZonesMatchTheirSource(t *testing.T) {
	t.Parallel()
	dir := compiled(t)
	if *update {
		pack(t, dir)
		return // this program has the zones that it was built with
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("needs python3 (Debian: python3)")
	}
	packed, err := zip.OpenReader("zoneinfo.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	var have []string
	for _, f := range packed.File {
		if f.Name != "+VERSION" {
			have = append(have, f.Name)
		}
	}
	want := names(t, dir)
	if slices.Sort(have); !slices.Equal(have, want) {
		t.Fatalf("the zip has %d zones, its source %d; go test ./internal/process/zones -update makes it", len(have), len(want))
	}
	own := zones.Newest(time.Now())
	first, _, _ := strings.Cut(string(contents(t, "testdata/tzdata.zi")), "\n")
	if first != "# version "+own.Release {
		t.Errorf("the zip is of %s, and its source says %q", own.Release, first)
	}
	offsets := map[string][]int{}
	for _, name := range want {
		zone, err := own.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for at := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2032; at = at.AddDate(0, 0, 11) {
			_, offset := at.In(zone).Zone()
			offsets[name] = append(offsets[name], offset)
		}
	}
	question, err := json.Marshal(offsets)
	if err != nil {
		t.Fatal(err)
	}
	judge := exec.CommandContext(t.Context(), python, "testdata/offsets.py", dir)
	judge.Stdin = bytes.NewReader(question)
	if out, err := judge.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

func contents(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// pack writes zoneinfo.zip, the same bytes of the same source.
func pack(t *testing.T, dir string) {
	t.Helper()
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	put := func(name string, data []byte) {
		file, err := w.Create(name)
		if err == nil {
			_, err = file.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	first, _, _ := strings.Cut(string(contents(t, "testdata/tzdata.zi")), "\n")
	put("+VERSION", []byte(strings.TrimPrefix(first, "# version ")+"\n"))
	for _, name := range names(t, dir) {
		put(name, contents(t, filepath.Join(dir, name)))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("zoneinfo.zip", packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// utc is when the clocks of a zone show 08:00 on 27 November 2026.
func utc(t *testing.T, d *zones.Data, name string) string {
	t.Helper()
	zone, err := d.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return time.Date(2026, time.November, 27, 8, 0, 0, 0, zone).UTC().Format("15:04Z")
}

// old are zones as a machine has them that was not upgraded for a while.
func old(t *testing.T) fstest.MapFS {
	t.Helper()
	return with(t, map[string]string{"America/Vancouver": "America/Los_Angeles", "America/Edmonton": "America/Denver", "Africa/Casablanca": "Europe/Paris"})
}

// with is a directory of the embedded zones in which some names have the rules of others.
func with(t *testing.T, others map[string]string) fstest.MapFS {
	t.Helper()
	packed, err := zip.OpenReader("zoneinfo.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	files := fstest.MapFS{}
	for _, f := range packed.File {
		if f.Name == "+VERSION" {
			continue
		}
		data, err := fs.ReadFile(packed, f.Name)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = &fstest.MapFile{Data: data}
	}
	changed := maps.Clone(files)
	for name, other := range others {
		changed[name] = files[other]
	}
	return changed
}

func text(line string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(line)} }

// TestTheNewestZoneDataIsUsed, C4: machines without data, with older, newer, and data that
// nothing names. Vancouver shows which it is: by the embedded rules 08:00 is 15:00Z.
func TestTheNewestZoneDataIsUsed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 26, 0, 0, 0, 0, time.UTC)
	const dir = "/usr/share/zoneinfo"
	// A newer release moves Vancouver to the clocks of Denver.
	newer := func() fstest.MapFS { return with(t, map[string]string{"America/Vancouver": "America/Regina"}) }
	add := func(files fstest.MapFS, name, line string) fstest.MapFS {
		files[name] = text(line)
		return files
	}
	lacking := add(newer(), "+VERSION", "2027a\n")
	delete(lacking, "US/Pacific")
	unnamedNewer := with(t, map[string]string{"Europe/Berlin": "Europe/London"})
	for name, test := range map[string]struct {
		machines                   []zones.Machine
		release, source, vancouver string
	}{
		"no data on the machine": {nil, "2026f", zones.Embedded, "15:00Z"},
		"older by tzdata.zi":     {[]zones.Machine{{Source: dir, Files: add(old(t), "tzdata.zi", "# version 2025b\n")}}, "2026f", zones.Embedded, "15:00Z"},
		"older by +VERSION":      {[]zones.Machine{{Source: dir, Files: add(old(t), "+VERSION", "2025b\n")}}, "2026f", zones.Embedded, "15:00Z"},
		"older by its package":   {[]zones.Machine{{Source: dir, Files: old(t), Package: "2025b-0+deb12u2"}}, "2026f", zones.Embedded, "15:00Z"},
		"older by its rules":     {[]zones.Machine{{Source: dir, Files: old(t)}}, "2026f", zones.Embedded, "15:00Z"},
		"the same release":       {[]zones.Machine{{Source: dir, Files: add(newer(), "+VERSION", "2026f\n")}}, "2026f", zones.Embedded, "15:00Z"},
		"newer by tzdata.zi":     {[]zones.Machine{{Source: dir, Files: add(newer(), "tzdata.zi", "# version 2026g\n# rest\n")}}, "2026g", dir, "14:00Z"},
		"newer by +VERSION":      {[]zones.Machine{{Source: dir, Files: add(newer(), "+VERSION", "2027a\n")}}, "2027a", dir, "14:00Z"},
		"newer by its package":   {[]zones.Machine{{Source: dir, Files: newer(), Package: "2026za-r0"}}, "2026za", dir, "14:00Z"},
		"newer, with gaps":       {[]zones.Machine{{Source: dir, Files: lacking}}, "2027a", dir, "14:00Z"},
		"nameless and equal":     {[]zones.Machine{{Source: dir, Files: with(t, nil)}}, "2026f", zones.Embedded, "15:00Z"},
		"nameless and newer":     {[]zones.Machine{{Source: dir, Files: unnamedNewer}}, "", dir, "15:00Z"},
		"ZONEINFO older, the machine's newer": {[]zones.Machine{
			{Source: "/old", Files: add(old(t), "+VERSION", "2025b")}, {Source: dir, Files: add(newer(), "+VERSION", "2026h\n")},
		}, "2026h", dir, "14:00Z"},
		"one without a name, and a newer one with": {[]zones.Machine{
			{Source: "/nameless", Files: unnamedNewer}, {Source: dir, Files: add(newer(), "+VERSION", "2026h\n")},
		}, "2026h", dir, "14:00Z"},
		"an empty directory": {[]zones.Machine{{Source: dir, Files: fstest.MapFS{}}}, "2026f", zones.Embedded, "15:00Z"},
	} {
		d := zones.Newest(now, test.machines...)
		if d.Release != test.release || d.Source != test.source {
			t.Errorf("%s: %s of %s, want %s of %s", name, d.Release, d.Source, test.release, test.source)
		}
		if got := utc(t, d, "America/Vancouver"); got != test.vancouver {
			t.Errorf("%s: 08:00 in Vancouver is %s, want %s", name, got, test.vancouver)
		}
		if _, err := d.Load("US/Pacific"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRulesOf2026, C4, whatever this machine has.
func TestRulesOf2026(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"America/Vancouver": "15:00Z", "Canada/Pacific": "15:00Z", "America/Edmonton": "14:00Z", "America/Yellowknife": "14:00Z",
		"Africa/Casablanca": "08:00Z", "Africa/El_Aaiun": "08:00Z", "America/Winnipeg": "13:00Z", "America/Havana": "12:00Z",
		"America/Los_Angeles": "16:00Z", "America/Denver": "15:00Z", "Europe/Amsterdam": "07:00Z", "Asia/Kathmandu": "02:15Z", "UTC": "08:00Z",
	} {
		for source, d := range map[string]*zones.Data{"embedded": zones.Newest(time.Now()), "in use": zones.Current()} {
			if got := utc(t, d, name); got != want {
				t.Errorf("%s, %s data: 08:00 is %s, want %s", name, source, got, want)
			}
		}
	}
}

func TestInvalidNamesOfZones(t *testing.T) {
	t.Parallel()
	d := zones.Newest(time.Now(), zones.Machine{Source: "/x", Files: fstest.MapFS{"+VERSION": text("2030a"), "tzdata.zi": text("# version 2030a")}})
	for _, name := range []string{"Mars/Phobos", "+VERSION", "tzdata.zi", "America", "../zones.go", "/etc/localtime", "europe/amsterdam\x00", "America/"} {
		if zone, err := d.Load(name); err == nil {
			t.Errorf("%q is %s", name, zone)
		}
	}
}

// TestDataOfAYearAgoIsStale, and a newer release of the machine is not.
func TestDataOfAYearAgoIsStale(t *testing.T) {
	t.Parallel()
	later := time.Date(2027, time.November, 1, 0, 0, 0, 0, time.UTC)
	renewed := with(t, nil)
	renewed["+VERSION"] = text("2027b\n")
	for name, test := range map[string]struct {
		now   time.Time
		stale bool
		with  []zones.Machine
	}{
		"in its year":            {later.AddDate(0, 0, -10), false, nil},
		"a year later":           {later, true, nil},
		"with newer data":        {later, false, []zones.Machine{{Source: "/x", Files: renewed}}},
		"with data of last year": {later.AddDate(0, 6, 0), true, []zones.Machine{{Source: "/x", Files: renewed}}},
	} {
		if d := zones.Newest(test.now, test.with...); d.Stale(test.now) != test.stale || d.Check(test.now) == nil == test.stale {
			t.Errorf("%s: stale is %t", name, !test.stale)
		}
	}
}

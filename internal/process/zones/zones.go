package zones

import (
	"archive/zip"
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"
)

//go:embed zoneinfo.zip
var packed []byte

// released is when the embedded release was published, by the NEWS of the IANA's database.
var released = time.Date(2026, time.October, 27, 0, 0, 0, 0, time.UTC)

const (
	// lookEvery is how long the choice between the data holds.
	lookEvery = time.Hour
	// tooOld is the age from which data is stale: several releases come out in a year.
	tooOld = 365 * 24 * time.Hour
)

// Embedded is the Source of the data that the program carries.
const Embedded = "embedded"

// Data is one set of time zones.
type Data struct {
	Release string // "2026f"; empty: nothing names it, but it is newer than the program's
	Source  string // Embedded, or the directory
	files   fs.FS
	spare   fs.FS // the embedded files, for names that files lacks; nil: files are they
	since   time.Time
}

// Stale says whether the data was published more than a year before now.
func (d *Data) Stale(now time.Time) bool { return now.Sub(d.since) > tooOld }

// Check returns an error where the data is stale.
func (d *Data) Check(now time.Time) error {
	if !d.Stale(now) {
		return nil
	}
	return fmt.Errorf("the time zone data %s (%s) is older than a year: upgrade Muster, or the machine's tzdata", d.Release, d.Source)
}

// Load returns a zone by its name. Errors: the name is unknown.
func (d *Data) Load(name string) (*time.Location, error) {
	if name == "" || name == "UTC" {
		return time.UTC, nil
	}
	data, err := read(d.files, name)
	if err != nil && d.spare != nil {
		data, err = read(d.spare, name)
	}
	if err != nil {
		return nil, fmt.Errorf("load the time zone %q: %w", name, err)
	}
	zone, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, fmt.Errorf("load the time zone %q: %w", name, err)
	}
	return zone, nil
}

// read takes compiled zones only: the directory has texts, too.
func read(files fs.FS, name string) ([]byte, error) {
	data, err := fs.ReadFile(files, name)
	if err == nil && !bytes.HasPrefix(data, []byte("TZif")) {
		return nil, fs.ErrNotExist
	}
	return data, err
}

// own opens the embedded data.
var own = sync.OnceValue(func() *Data {
	files, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		panic(fmt.Sprintf("the embedded time zones: %v", err)) // the build is broken
	}
	return &Data{Release: releaseOf(files), Source: Embedded, files: files, since: released}
})

// Machine is a directory of time zones on this machine.
type Machine struct {
	Source string
	Files  fs.FS
	// Package is the version of the package tzdata, if known.
	Package string
}

// Newest returns the newest of the program's data and the machine's, as of now.
func Newest(now time.Time, machines ...Machine) *Data {
	newest := own()
	for _, m := range machines {
		found := &Data{Release: releaseOf(m.Files), Source: m.Source, files: m.Files, spare: own().files, since: released}
		if found.Release == "" {
			found.Release = release(m.Package)
		}
		switch {
		case found.Release > cmp.Or(newest.Release, own().Release):
			// The name tells its year alone. It cannot be older than the program's.
			if year, err := time.Parse("2006", found.Release[:4]); err == nil && year.After(released) {
				found.since = year
			}
			newest = found
		case found.Release == "" && newest == own() && hasKnownRules(found) && differs(found, newest, now):
			newest = found
		}
	}
	return newest
}

// releaseOf reads the release that a directory names; it is empty if there is none.
func releaseOf(files fs.FS) string {
	for _, name := range []string{"+VERSION", "tzdata.zi"} {
		file, err := files.Open(name)
		if err != nil {
			continue
		}
		line := make([]byte, 64)
		n, _ := file.Read(line) // what cannot be read names no release
		_ = file.Close()
		first, _, _ := strings.Cut(string(line[:n]), "\n")
		if r := release(strings.TrimPrefix(strings.TrimSpace(first), "# version ")); r != "" {
			return r
		}
	}
	return ""
}

// release is the release at the beginning of a version: "2026f" of "2026f-0+deb12u1". It is
// empty if there is none. Releases sort as texts: after 2026z comes 2026za.
func release(version string) string {
	version = strings.TrimPrefix(version, "tzdata")
	end := 0
	for end < len(version) && (end < 4 && '0' <= version[end] && version[end] <= '9' || end >= 4 && 'a' <= version[end] && version[end] <= 'z') {
		end++
	}
	if end < 5 {
		return ""
	}
	return version[:end]
}

// knownRule is an offset by a rule that a recent release brought.
type knownRule struct {
	zone   string
	at     time.Time
	offset int // in seconds east of UTC
}

// knownRules tell data without a name from older data. The last ones are those of the embedded release.
func knownRules() []knownRule {
	winter := time.Date(2026, time.November, 27, 12, 0, 0, 0, time.UTC)
	return []knownRule{
		{"America/Coyhaique", winter, -3 * 3600}, // 2025b
		{"America/Vancouver", winter, -7 * 3600}, // 2026b
		{"America/Edmonton", winter, -6 * 3600},  // 2026c
		{"Africa/Casablanca", winter, 0},
		{"America/Winnipeg", winter, -5 * 3600}, // 2026e
		{"America/Havana", winter, -4 * 3600},   // 2026f
	}
}

func hasKnownRules(d *Data) bool {
	for _, r := range knownRules() {
		data, err := read(d.files, r.zone)
		if err != nil {
			return false
		}
		zone, err := time.LoadLocationFromTZData(r.zone, data)
		if err != nil {
			return false
		}
		if _, offset := r.at.In(zone).Zone(); offset != r.offset {
			return false
		}
	}
	return true
}

// differs says whether a zone that both have shows other times within the next two years.
func differs(d, from *Data, now time.Time) bool {
	different := false
	_ = fs.WalkDir(from.files, ".", func(name string, entry fs.DirEntry, err error) error { // it is in memory
		if err != nil || entry.IsDir() {
			return err
		}
		theirs, err := read(d.files, name)
		if err != nil {
			return nil
		}
		there, err := time.LoadLocationFromTZData(name, theirs)
		if err != nil {
			return nil
		}
		here, err := from.Load(name)
		if err != nil {
			return nil
		}
		for at := now; at.Before(now.AddDate(2, 0, 0)); at = at.AddDate(0, 0, 7) {
			_, a := at.In(there).Zone()
			if _, b := at.In(here).Zone(); a != b {
				different = true
				return fs.SkipAll
			}
		}
		return nil
	})
	return different
}

// directories are those that the standard library reads, in its order.
func directories() []string {
	found := []string{"/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/usr/lib/locale/TZ", "/etc/zoneinfo"}
	if named := os.Getenv("ZONEINFO"); named != "" {
		return append([]string{named}, found...)
	}
	return found
}

// machines are the directories that are there.
func machines() (found []Machine) {
	for _, dir := range directories() {
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		m := Machine{Source: dir, Files: os.DirFS(dir)}
		if dir == "/usr/share/zoneinfo" {
			m.Package = installed()
		}
		found = append(found, m)
	}
	return found
}

// installed is the version of the package tzdata that dpkg or apk installed.
func installed() string {
	for file, fields := range map[string][2]string{
		"/var/lib/dpkg/status":  {"Package: tzdata\n", "\nVersion: "},
		"/lib/apk/db/installed": {"P:tzdata\n", "\nV:"},
	} {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if version := packageVersion(string(data), fields[0], fields[1]); version != "" {
			return version
		}
	}
	return ""
}

// packageVersion finds the version of a package in a list of paragraphs.
func packageVersion(list, name, version string) string {
	for _, paragraph := range strings.Split(list, "\n\n") {
		if !strings.HasPrefix(paragraph, name) && !strings.Contains(paragraph, "\n"+name) {
			continue
		}
		if _, after, ok := strings.Cut("\n"+paragraph, version); ok {
			line, _, _ := strings.Cut(after, "\n")
			return line
		}
	}
	return ""
}

var choice struct {
	sync.Mutex
	data   *Data
	looked time.Time
}

// Current returns the data in use by this process.
func Current() *Data {
	choice.Lock()
	defer choice.Unlock()
	if choice.data == nil || time.Since(choice.looked) > lookEvery {
		choice.data, choice.looked = Newest(time.Now(), machines()...), time.Now()
	}
	return choice.data
}

// Load returns a zone of the data in use. Errors: the name is unknown.
func Load(name string) (*time.Location, error) { return Current().Load(name) }

package agent

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"muster/internal/intake/measure"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func openAt(t testing.TB, directory string, most int64) *store {
	t.Helper()
	s, err := openStore(directory, most)
	must(t, err)
	t.Cleanup(func() { must(t, s.close()) })
	return s
}

// sessionsOf is a record of sessions, with so many letters that do not pack.
func sessionsOf(server string, at time.Time, body string) record {
	return record{Kind: sessions, Server: server, At: at, Body: []byte(`[{"at":"` + body + `"}]`)}
}

func factOf(k kind, server, body string) record {
	return record{Kind: k, Server: server, At: noon, Body: []byte(body)}
}

func (s *store) mustKeep(t testing.TB, records ...record) {
	t.Helper()
	must(t, s.keep(change{records: records}))
}

// bodies are what next gives and sent takes, call by call, until nothing is left.
func (s *store) bodies(t testing.TB) (calls [][]string) {
	t.Helper()
	for {
		records, err := s.next(func(record) bool { return false })
		must(t, err)
		if len(records) == 0 {
			return calls
		}
		var call []string
		for _, r := range records {
			call = append(call, r.Server+" "+string(r.Body))
		}
		calls = append(calls, call)
		must(t, s.sent(records))
	}
}

// checked compares the counts of a store with what is in it.
func (s *store) checked(t testing.TB) figures {
	t.Helper()
	f, err := s.figures()
	must(t, err)
	var bytes, records int64
	must(t, s.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(measurementsBucket).ForEach(func(_, value []byte) error {
			bytes, records = bytes+int64(len(value)), records+1
			return nil
		})
	}))
	if f.Bytes != bytes || f.Records != records {
		t.Errorf("the store counts %d records of %d bytes and has %d of %d", f.Records, f.Bytes, records, bytes)
	}
	return f
}

// letters do not pack: the bound is one of what is on the disk.
func letters(seed, n int) string {
	out, x := make([]byte, n), uint32(seed)*2654435761+1
	for i := range out {
		x = x*1664525 + 1013904223
		out[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-"[x>>26]
	}
	return string(out)
}

// TestTheOldestMeasurementsAreDropped where there are more than the bound, and are counted. Facts
// do not, however many there are.
func TestTheOldestMeasurementsAreDropped(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	s := openAt(t, directory, 20_000)
	for i := range 30 {
		s.mustKeep(t, factOf(assessmentFact, "db", letters(i, 2000)), sessionsOf("db", noon.Add(time.Duration(i)*time.Second), letters(100+i, 2000)))
	}
	f := s.checked(t)
	if f.Bytes > 20_000 || f.Records+f.Dropped[droppedFull] != 30 || f.Records < 5 || f.Facts != 30 {
		t.Errorf("30 of each became %+v", f)
	}
	if want := noon.Add(time.Duration(30-f.Records) * time.Second); !f.Oldest.Equal(want) {
		t.Errorf("the oldest is of %s, want %s", f.Oldest, want)
	}
	if calls := s.bodies(t); len(calls) < 30 {
		t.Errorf("%d calls", len(calls))
	}
	if f := s.checked(t); f.Bytes != 0 || f.Dropped[droppedFull] == 0 || f.Facts != 0 {
		t.Errorf("all was sent, and there are %+v", f)
	}
}

// TestFactsAreSentBeforeTheirMeasurements, and measurements keep their order, over a restart, too.
func TestFactsAreSentBeforeTheirMeasurements(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	s, err := openStore(directory, 1<<20)
	must(t, err)
	s.mustKeep(t, sessionsOf("old", noon, "1"), factOf(fleetFact, "new", "F"), sessionsOf("new", noon, "2"))
	s.mustKeep(t, sessionsOf("old", noon, "3"), factOf(assessmentFact, "new", "A"), sessionsOf("new", noon, "4"))
	must(t, s.close())
	s = openAt(t, directory, 1<<20)
	s.mustKeep(t, sessionsOf("old", noon, "5"))
	want := []string{`old [{"at":"1"}]`, "new F", `new [{"at":"2"}] old [{"at":"3"}]`, "new A", `new [{"at":"4"}] old [{"at":"5"}]`}
	var got []string
	for _, call := range s.bodies(t) {
		got = append(got, strings.Join(call, " "))
	}
	if !slices.Equal(got, want) {
		t.Errorf("sent %q\nwant %q", got, want)
	}
}

// TestACallIsBounded in bytes and items. A record beyond the bounds is sent alone.
func TestACallIsBounded(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir(), 1<<30)
	items := func(n int) record {
		return record{Kind: sessions, Server: "db", At: noon, Body: []byte("[" + strings.Repeat("0,", n-1) + "0]")}
	}
	large := sessionsOf("db", noon, strings.Repeat("x", mostBytes/2))
	s.mustKeep(t, large, large, sessionsOf("db", noon, strings.Repeat("x", mostBytes+1)), items(1), items(mostItems-1), items(1), items(mostItems+1), items(1))
	var got []int
	for _, call := range s.bodies(t) {
		got = append(got, len(call))
	}
	if want := []int{1, 1, 1, 2, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("calls of %v records, want %v", got, want)
	}
}

// TestWaitingRecordsAreSkipped, and do not hold up other records.
func TestWaitingRecordsAreSkipped(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir(), 1<<20)
	s.mustKeep(t, sessionsOf("held", noon, "1"), sessionsOf("db", noon, "2"), factOf(fleetFact, "db", "F"), sessionsOf("db", noon, "3"))
	held := func(r record) bool { return r.Server == "held" }
	for _, want := range []string{`[{"at":"2"}]`, "F", `[{"at":"3"}]`} {
		records, err := s.next(held)
		must(t, err)
		if len(records) != 1 || string(records[0].Body) != want {
			t.Fatalf("next are %+v, want %s", records, want)
		}
		must(t, s.sent(records))
	}
	if f := s.checked(t); f.Records != 1 {
		t.Errorf("%d records are left", f.Records)
	}
}

func TestASecondAgentInADirectoryEndsAtOnce(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	openAt(t, directory, 1<<20)
	_, err := openStore(directory, 1<<20)
	var used *InUseError
	if !errors.As(err, &used) || used.Directory != directory {
		t.Errorf("it is %v", err)
	}
}

// TestACopyOfTheStoreIsAnotherSender on a machine of another name, and compares statements with none of the
// first one's lists. On the same machine it stays the same sender.
func TestACopyOfTheStoreIsAnotherSender(t *testing.T) {
	t.Parallel()
	first, second := t.TempDir(), t.TempDir()
	s, err := openStore(first, 1<<20)
	must(t, err)
	who, err := s.sender("db01")
	must(t, err)
	list := &measure.List{At: noon, Entries: []measure.Entry{{Calls: 7}}, Told: map[measure.Ref]bool{{Database: 3}: true}}
	state := serverState{Databases: map[string]time.Time{"orders": noon}}
	must(t, s.keep(change{records: []record{sessionsOf("db", noon, "1")}, server: "db", state: &state, basis: list}))
	must(t, s.close())
	file, err := os.ReadFile(filepath.Join(first, "agent.db"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(second, "agent.db"), file, 0o600))

	s = openAt(t, first, 1<<20)
	again, err := s.sender("db01")
	must(t, err)
	basis, err := s.basis("db")
	must(t, err)
	if again != who || basis == nil || len(basis.Entries) != 1 || basis.Entries[0].Calls != 7 || !basis.Told[measure.Ref{Database: 3}] {
		t.Errorf("the same agent is %s after %s, and has %+v", again, who, basis)
	}
	copied := openAt(t, second, 1<<20)
	other, err := copied.sender("db02")
	must(t, err)
	if basis, err := copied.basis("db"); other == who || basis != nil || err != nil {
		t.Errorf("the copy is %s after %s, and has %+v (%v)", other, who, basis, err)
	}
	if kept, err := copied.server("db"); err != nil || !kept.Databases["orders"].Equal(noon) || copied.checked(t).Records != 1 {
		t.Errorf("the copy has %+v (%v)", kept, err)
	}
}

func TestAFailedTransactionIsNotCounted(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir(), 1<<20)
	s.mustKeep(t, sessionsOf("db", noon, "1"))
	failed := errors.New("failed")
	err := s.update(func(tx *bbolt.Tx) error {
		must(t, s.add(tx, []record{sessionsOf("db", noon, "2"), factOf(fleetFact, "db", "F")}))
		return failed
	})
	if f := s.checked(t); !errors.Is(err, failed) || f.Records != 1 || f.Facts != 0 {
		t.Errorf("%v left %+v", err, f)
	}
}

// TestDamagedRecordsAreSkipped and counted, and block nothing else.
func TestDamagedRecordsAreSkipped(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir(), 1<<20)
	s.mustKeep(t, sessionsOf("db", noon, "1"), factOf(fleetFact, "db", "F"), sessionsOf("db", noon, "2"))
	must(t, s.db.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{measurementsBucket, factsBucket} {
			b := tx.Bucket(name)
			key, value := b.Cursor().First()
			damaged := slices.Clone(value)
			damaged[len(damaged)-1] ^= 1 // of the checksum
			must(t, b.Put(key, damaged))
		}
		return nil
	}))
	if calls := s.bodies(t); len(calls) != 1 || calls[0][0] != `db [{"at":"2"}]` {
		t.Errorf("sent %q", calls)
	}
	if f := s.checked(t); f.Records != 0 || f.Facts != 0 || f.Dropped[droppedDamaged] != 2 {
		t.Errorf("there are %+v", f)
	}
}

// TestRefusedRecordsComeBackInOrder, unless the same instance was announced anew: the newer announcement is
// complete, and an older one would undo it.
func TestRefusedRecordsComeBackInOrder(t *testing.T) {
	t.Parallel()
	s := openAt(t, t.TempDir(), 1<<20)
	take := func() record {
		records, err := s.next(func(record) bool { return false })
		must(t, err)
		return records[0]
	}
	s.mustKeep(t, factOf(fleetFact, "a", "a1"), factOf(fleetFact, "b", "b1"), factOf(assessmentFact, "a", "A"), factOf(fleetFact, "a", "a2"))
	must(t, s.refuse(take())) // a2 is on its way
	must(t, s.refuse(take()))
	must(t, s.refuse(take()))
	if f := s.checked(t); f.Facts != 1 || f.Refused != 2 {
		t.Errorf("there are %+v", f)
	}
	s.mustKeep(t, factOf(fleetFact, "b", "b2"))
	must(t, s.retry())
	var got []string
	for _, call := range s.bodies(t) {
		got = append(got, call...)
	}
	if want := []string{"a A", "a a2", "b b2"}; !slices.Equal(got, want) {
		t.Errorf("sent %q, want %q", got, want)
	}
}

// TestAFullDisk costs some of the oldest measurements, and no fact: the agent goes on, for
// as long as the disk is full, and what is sent can be deleted. Records are of all sizes,
// so that what goes leaves pieces.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("muster-test", disk, "tmpfs", 0, "size=6m,mode=0700"); err != nil {
		t.Skipf("no small file system can be mounted here, which takes root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) })
	s, err := openStore(filepath.Join(disk, "agent"), 1<<30)
	must(t, err)
	defer func() { must(t, s.close()) }()
	s.db.NoSync = true // of a file system in memory
	at := func(i int) time.Time { return noon.Add(time.Duration(i) * time.Second) }
	const measured, facts = 1000, 20
	for i := range measured {
		size := []int{100, 300, 1000, 4000, 9000, 30_000, 120, 200, 60_000}[(i*7+i/10)%9]
		s.mustKeep(t, sessionsOf("db", at(i), letters(i, size)))
		if i%(measured/facts) == 0 {
			s.mustKeep(t, factOf(assessmentFact, "db", letters(i, 10_000)))
		}
		if i == 100 { // somebody else takes what is left
			fillUp(t, disk)
		}
	}
	f := s.checked(t)
	if f.Facts != facts || f.Records+f.Dropped[droppedFull] != measured || f.Records < 20 || f.Dropped[droppedFull] == 0 {
		t.Errorf("%d measurements and %d facts became %+v", measured, facts, f)
	}
	if want := at(measured - int(f.Records)); !f.Oldest.Equal(want) {
		t.Errorf("the oldest is of %s, want %s", f.Oldest, want)
	}
	sent := 0
	for _, call := range s.bodies(t) {
		sent += len(call)
	}
	if f := s.checked(t); int64(sent) != facts+measured-f.Dropped[droppedFull] || f.Records != 0 {
		t.Errorf("%d were sent, and there are %+v", sent, f)
	}
}

// fillUp leaves no room on a disk.
func fillUp(t testing.TB, disk string) {
	t.Helper()
	other, err := os.Create(filepath.Join(disk, "other"))
	must(t, err)
	for err == nil {
		_, err = other.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	must(t, other.Close())
}

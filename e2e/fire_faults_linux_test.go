package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"muster/internal/concurrency/pause"
)

// exec runs a statement on the primary. What a line or a process that was killed leaves
// of connections does not keep it from that.
func (f *fire) exec(t *testing.T, statement string) {
	t.Helper()
	eventually(t, statement, func() bool {
		_, err := f.db.ExecContext(t.Context(), statement)
		return err == nil
	})
}

// slowCommits has PostgreSQL wait before it writes a commit, whoever else commits meanwhile.
func (f *fire) slowCommits(t *testing.T) {
	t.Helper()
	f.exec(t, `ALTER SYSTEM SET commit_delay = 100000`)
	f.exec(t, `ALTER SYSTEM SET commit_siblings = 0`)
	f.exec(t, `SELECT pg_reload_conf()`)
	eventually(t, "a commit takes 100 ms", func() bool {
		began := time.Now()
		f.exec(t, `SELECT pg_logical_emit_message(true, 'fire', 'is written ahead')`)
		return time.Since(began) >= 100*time.Millisecond
	})
}

func (f *fire) quickCommits(t *testing.T) {
	t.Helper()
	f.exec(t, `ALTER SYSTEM RESET commit_delay`)
	f.exec(t, `ALTER SYSTEM RESET commit_siblings`)
	f.exec(t, `SELECT pg_reload_conf()`)
}

// stalls has commits wait for a standby that there is not, and returns what has them wait for the
// one that there is. Neither takes a commit.
func (f *fire) stalls(t *testing.T) (goOn func(t *testing.T)) {
	t.Helper()
	was := ""
	eventually(t, "the standby's name is read", func() bool {
		return f.db.GetContext(t.Context(), &was, `SELECT current_setting('synchronous_standby_names')`) == nil
	})
	f.exec(t, `ALTER SYSTEM SET synchronous_standby_names = 'nobody'`)
	f.exec(t, `SELECT pg_reload_conf()`)
	return func(t *testing.T) {
		t.Helper()
		f.exec(t, `ALTER SYSTEM SET synchronous_standby_names = '`+strings.ReplaceAll(was, "'", "''")+`'`)
		f.exec(t, `SELECT pg_reload_conf()`)
	}
}

func (f *fire) stall(t *testing.T, lasts time.Duration) {
	t.Helper()
	goOn := f.stalls(t)
	_ = pause.For(t.Context(), lasts) // that it lasts is the fault
	goOn(t)
}

// roomOfBucket is what its file system may hold, which is in memory.
const roomOfBucket = "2g"

// fillBucket leaves no room in the bucket, whatever is in it, by making its disk smaller.
func (f *fire) fillBucket(t *testing.T) {
	t.Helper()
	var disk syscall.Statfs_t
	if err := syscall.Statfs(f.disk, &disk); err != nil {
		t.Fatal(err)
	}
	f.failedBefore = f.failures(t)
	used := (disk.Blocks - disk.Bfree) * uint64(disk.Bsize)
	eventually(t, "the bucket's disk is as small as what is on it", func() bool { // which grows meanwhile
		err := f.resize(fmt.Sprint(used))
		used += 1 << 20
		return err == nil
	})
}

// emptyBucket gives it room again, once a report has failed for want of it.
func (f *fire) emptyBucket(t *testing.T) {
	t.Helper()
	defer func() {
		if t.Failed() {
			f.sayBuilds(t)
		}
	}()
	eventually(t, "a report fails for want of room", func() bool {
		f.exec(t, `UPDATE jobs SET due_at = now() WHERE kind = 'build' AND worker_id = '' AND due_at > now()`)
		return f.failures(t) > f.failedBefore
	})
	if err := f.resize(roomOfBucket); err != nil {
		t.Fatal(err)
	}
}

// sayBuilds says how far the reports are that are to be built.
func (f *fire) sayBuilds(t *testing.T) {
	t.Helper()
	var builds []string
	err := f.db.SelectContext(context.WithoutCancel(t.Context()), &builds, `SELECT concat_ws(' ', subject, 'attempt', attempts, worker_id, due_at - now(), dead_at, left(last_error, 300)) FROM jobs WHERE kind = 'build' ORDER BY queued_at`)
	var disk syscall.Statfs_t
	_ = syscall.Statfs(f.disk, &disk)
	t.Logf("the bucket has %d KiB left; %d builds, %v:\n%s", disk.Bfree*uint64(disk.Bsize)>>10, len(builds), err, strings.Join(builds, "\n"))
}

func (f *fire) resize(size string) error {
	return syscall.Mount("muster-test", f.disk, "tmpfs", syscall.MS_REMOUNT, "mode=0700,size="+size)
}

// failures are the reports that nobody could build.
func (f *fire) failures(t *testing.T) (n int) {
	t.Helper()
	eventually(t, "failures are counted", func() bool {
		return f.db.GetContext(t.Context(), &n, `SELECT count(*) FROM events WHERE type = 'report.failed' AND convert_from(data, 'UTF8') LIKE '%generation_failed%'`) == nil
	})
	return n
}

func (f *fire) refuseMail(*testing.T) {
	for _, address := range f.addresses {
		f.mails.Answer(address, 451, [3]int{4, 3, 2}, "not now")
	}
}

func (f *fire) takeMail(*testing.T) {
	for _, address := range f.addresses {
		f.mails.Answer(address, 0, [3]int{}, "")
	}
}

// killShard kills one, and has hours put where it is missing as if they were over for long.
func (f *fire) killShard(t *testing.T, n int) {
	t.Helper()
	f.shards.Servers[n].Kill(t)
	f.exec(t, `UPDATE measured_hours SET arrived_at = arrived_at - interval '1 hour'`)
}

// failOver kills the primary under load, and measures when writes are acknowledged again.
func (f *fire) failOver(t *testing.T) {
	t.Helper()
	f.allReady(t) // so that it is the failover that is measured, and no replica that starts
	nth := f.book.times(failedOver)
	var acknowledged moments
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var probes sync.WaitGroup
	for n := range 4 {
		probes.Go(func() {
			for k := 0; ctx.Err() == nil; k++ {
				if f.probe(ctx, n, fmt.Sprintf("probe-%d-%d-%d", nth, n, k)) {
					acknowledged.add(time.Now()) // and the next at once: the primary dies amid acknowledgements
				} else {
					_ = pause.For(ctx, 25*time.Millisecond)
				}
			}
		})
	}
	eventually(t, "writes are acknowledged before the failover", func() bool { return !acknowledged.after(f.book.began).IsZero() })
	over := f.pair.Kill(t)
	var again time.Time
	eventually(t, "a write is acknowledged after the promotion", func() bool {
		again = acknowledged.after(over.Promoted)
		return !again.IsZero()
	})
	stop()
	probes.Wait()
	f.book.note("failover %d: promoted %s after the kill, writable %s later; a write was acknowledged %s after the promotion, %s after it was writable",
		nth, round(over.Promoted.Sub(over.Killed)), round(over.Writable.Sub(over.Promoted)), round(again.Sub(over.Promoted)), round(again.Sub(over.Writable)))
	if late := again.Sub(over.Writable); f.size.promise > 0 && late > f.size.promise {
		f.book.wrong("writes were acknowledged again %s after the standby took them", round(late))
	}
}

// moments are when something happened, in any order.
type moments struct {
	mu sync.Mutex
	at []time.Time
}

func (m *moments) add(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = append(m.at, at)
}

// after is the first one after a time; zero: there is none.
func (m *moments) after(since time.Time) (first time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, at := range m.at {
		if at.After(since) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// probe writes once, and has no patience. It says whether that was acknowledged.
func (f *fire) probe(ctx context.Context, n int, id string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	f.book.offer(anAlert, id, nil)
	f.book.asks(probing)
	got, err := f.caller(probing, n, nil).once(ctx, call{method: http.MethodPost, path: alertsPath, body: alertsOf(id)})
	v := judge(got, err, nil)
	f.book.answered(probing, v)
	if v.wrong != "" {
		f.book.wrong("a write during a failover is answered %s", v.wrong)
		return false
	}
	if v.last {
		f.book.take(anAlert, id)
	}
	return v.last
}

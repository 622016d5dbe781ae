package bench_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// procRoot is Linux's; where there is none nothing is told of processes.
const procRoot = "/proc"

// spent is what processes have taken: of a processor since they started, and of memory
// as it is now.
type spent struct {
	cpu      time.Duration
	resident float64 // MiB; of several processes, what they share counts once
}

// spentBy are those that share the machine: serve, its PostgreSQL and its ClickHouse, and
// the benchmark itself, which is whoever sends.
type spentBy struct{ serve, postgres, clickhouse, senders spent }

func (now spentBy) ofServe() spent    { return now.serve }
func (now spentBy) ofPostgres() spent { return now.postgres }

func (p *program) spent() (of spentBy) {
	p.b.Helper()
	if _, err := os.Stat(procRoot); err != nil {
		p.b.Skip("processor and memory of processes are read from Linux's /proc: ", err)
	}
	of.serve, of.senders = p.of(p.pid), p.of(os.Getpid())
	if p.clickhouse != nil {
		of.clickhouse.cpu = p.clickhouse.CPU(p.b)
	}
	postmaster := p.postmaster()
	of.postgres = p.of(postmaster)
	for _, child := range p.children(postmaster) {
		c := p.of(child)
		of.postgres.cpu += c.cpu
		of.postgres.resident += c.resident
	}
	return of
}

// memory is the server's resident set in MiB.
func (p *program) memory() float64 {
	p.b.Helper()
	return p.spent().serve.resident
}

// of reads one process; nothing where it has gone. Its children that have ended count.
func (p *program) of(pid int) (s spent) {
	p.b.Helper()
	ticks := p.stat(pid)
	for _, n := range ticks {
		s.cpu += time.Duration(n) * time.Second / 100
	}
	name := "Pss" // what is shared is divided among those who share it
	file, err := os.ReadFile(fmt.Sprintf("%s/%d/smaps_rollup", procRoot, pid))
	if pid == p.pid || err != nil {
		name = "VmRSS"
		file, err = os.ReadFile(fmt.Sprintf("%s/%d/status", procRoot, pid))
	}
	if errors.Is(err, fs.ErrNotExist) || len(file) == 0 {
		return s
	}
	s.resident = p.mebibytes(file, name)
	return s
}

// mebibytes is a field of a process's status or smaps_rollup; 0 where it has none.
func (p *program) mebibytes(file []byte, name string) float64 {
	p.b.Helper()
	for line := range strings.Lines(string(file)) {
		field, rest, _ := strings.Cut(line, ":")
		if field != name {
			continue
		}
		kib, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
		if err != nil {
			p.b.Fatal(err)
		}
		return kib / 1024
	}
	return 0
}

// stat is a process's time as user and system, its own and that of children that have
// ended, in hundredths of a second.
func (p *program) stat(pid int) (ticks []int64) {
	p.b.Helper()
	for _, field := range p.statFields(pid, 14, 18) {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			p.b.Fatal(err)
		}
		ticks = append(ticks, n)
	}
	return ticks
}

// statFields are fields from and before to of a process, as proc(5) numbers them; none
// where it has gone.
func (p *program) statFields(pid, from, to int) []string {
	line, err := os.ReadFile(fmt.Sprintf("%s/%d/stat", procRoot, pid))
	if err != nil {
		return nil
	}
	fields := strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:])) // from the third on
	return fields[from-3 : to-3]
}

func (p *program) postmaster() int {
	p.b.Helper()
	file, err := os.ReadFile(filepath.Join(p.server.Dir(), "postmaster.pid"))
	if err != nil {
		p.b.Fatal(err)
	}
	first, _, _ := strings.Cut(string(file), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		p.b.Fatal(err)
	}
	return pid
}

func (p *program) children(of int) (pids []int) {
	p.b.Helper()
	entries, err := os.ReadDir(procRoot)
	if err != nil {
		p.b.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent := p.statFields(pid, 4, 5); len(parent) == 1 && parent[0] == strconv.Itoa(of) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// report says how much of a core each took since before.
func (now spentBy) report(b *testing.B, before spentBy, took time.Duration) {
	b.Helper()
	for name, of := range map[string][2]spent{
		"serve": {before.serve, now.serve}, "postgres": {before.postgres, now.postgres}, "senders": {before.senders, now.senders},
		"clickhouse": {before.clickhouse, now.clickhouse},
	} {
		b.ReportMetric((of[1].cpu-of[0].cpu).Seconds()/took.Seconds(), name+"-cores")
	}
}

// since is what all of them have computed since before.
func (now spentBy) since(before spentBy) time.Duration {
	return now.serve.cpu + now.postgres.cpu + now.clickhouse.cpu + now.senders.cpu -
		before.serve.cpu - before.postgres.cpu - before.clickhouse.cpu - before.senders.cpu
}

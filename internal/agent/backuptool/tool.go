// Package backuptool reads which backups pgBackRest, barman and WAL-G have of a PostgreSQL server.
//
// # How it works
//
// The configuration of an agent names a command with its arguments, or a file that the tool's own job
// writes. A command is started without a shell, with a deadline and a bound of its output. What it says
// is data: names and texts in it reach nobody but as clean and short texts, and errors name the tool,
// not its output.
//
// The formats are those of the tools: `pgbackrest info --output=json`, `wal-g backup-list --detail
// --json`, and `barman --format=json show-backup SERVER latest`. All of them have the system
// identifier of the cluster. It is compared with that of the server: a tool that tells of another
// cluster is refused, and the page says so. As long as the server has not told its identifier, or the tool
// tells none, nothing counts.
//
// # What may go wrong
//
//   - The command is missing, fails, hangs or says too much: the condition is Unknown, with why.
//   - The output is no JSON of that tool, or of another stanza: Unknown.
//   - A backup is broken or still running: it does not count.
//   - One repository of pgBackRest cannot be read: Failing, with the backups of the others.
package backuptool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"muster/internal/measurements/backups"
)

// Bounds of a reading.
const (
	timeout    = time.Minute
	mostOutput = 8 << 20
	// stops is how long a command gets to end after its deadline.
	stops = 5 * time.Second
)

// Tool is how the backups of a server are read.
type Tool struct {
	Source  backups.Source
	Name    string   // the stanza of pgBackRest, or barman's server; empty: the only one
	Command []string // with its arguments; or else
	File    string
}

// Sources are the tools that can be read.
func Sources() []backups.Source {
	return []backups.Source{backups.PgBackRest, backups.Barman, backups.WALG}
}

// errTooMuch says that the output is beyond its bound.
var errTooMuch = fmt.Errorf("its output has more than %d MiB", mostOutput>>20)

// Look reads the backups of the server with a system identifier, as of a time. It always answers: what
// cannot be read is the condition.
func (t Tool) Look(ctx context.Context, system string, at time.Time) backups.Look {
	l := backups.Look{At: at, Source: t.Source, Condition: backups.Unknown}
	output, err := t.output(ctx)
	if err != nil {
		l.Why = fmt.Sprintf("%s cannot be read: %s.", t.Source, err)
		return l
	}
	told, err := t.parse(output)
	switch {
	case err != nil:
		l.Why = fmt.Sprintf("%s says something that is not understood: %s.", t.Source, err)
	case len(told.systems) == 0:
		l.Why = fmt.Sprintf("%s does not say of which cluster its backups are.", t.Source)
	case system == "":
		l.Why = "The server's system identifier is not known, so nobody can tell whose backups these are."
	case told.of(system) == nil:
		l.Condition = backups.Refused
		l.Why = fmt.Sprintf("%s tells of the cluster %s, and this is %s.", t.Source, told.systems[0].id, system)
	default:
		l.Condition, l.Why, l.Backups = backups.Works, told.trouble, told.of(system).backups
		if told.trouble != "" {
			l.Condition = backups.Failing
		}
	}
	return l
}

// told is what a tool says.
type told struct {
	systems []cluster
	trouble string // in a sentence
}

// cluster is a PostgreSQL system, with its backups.
type cluster struct {
	id      string
	backups []backups.Backup
}

func (t *told) of(system string) *cluster {
	for i := range t.systems {
		if t.systems[i].id == system {
			return &t.systems[i]
		}
	}
	return nil
}

// add adds a backup of a system.
func (t *told) add(system string, b ...backups.Backup) {
	if system == "" || system == "0" {
		return
	}
	c := t.of(system)
	if c == nil {
		t.systems = append(t.systems, cluster{id: system})
		c = &t.systems[len(t.systems)-1]
	}
	c.backups = append(c.backups, b...)
}

// output is what the tool says, or what a file has.
func (t Tool) output(ctx context.Context) ([]byte, error) {
	if len(t.Command) == 0 {
		return read(t.File)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out := bounded{stop: cancel}
	c := exec.CommandContext(ctx, t.Command[0], t.Command[1:]...) //nolint:gosec // G204: the administrator of the machine configures it
	c.Stdout, c.WaitDelay = &out, stops
	err := c.Run()
	var exit *exec.ExitError
	switch {
	case out.over:
		return nil, errTooMuch
	case ctx.Err() != nil:
		return nil, fmt.Errorf("it does not end within %s", timeout)
	case errors.As(err, &exit):
		return nil, fmt.Errorf("it ends with status %d", exit.ExitCode())
	case err != nil:
		return nil, errors.New("it cannot be started")
	}
	return out.text.Bytes(), nil
}

func read(path string) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // G304: the administrator of the machine configures it
	if err != nil {
		return nil, errors.New("the file cannot be opened")
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, mostOutput+1))
	if err != nil {
		return nil, errors.New("the file cannot be read")
	}
	if len(text) > mostOutput {
		return nil, errTooMuch
	}
	return text, nil
}

// bounded keeps as much as is allowed. Beyond, the command is ended.
type bounded struct {
	text bytes.Buffer // not embedded: its ReadFrom has no bound
	stop func()
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > mostOutput {
		b.over = true
		b.stop()
		return 0, errTooMuch
	}
	return b.text.Write(p)
}

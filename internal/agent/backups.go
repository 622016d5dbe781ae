package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/internal/agent/backuptool"
	"muster/internal/concurrency/pause"
	"muster/internal/intake/measure"
	"muster/internal/measurements"
	"muster/internal/measurements/backups"
	"muster/internal/text/strictyaml"
)

const (
	// backupsEvery is how often a backup tool is asked, backupsLook how often it is looked whether it is time.
	backupsEvery, backupsLook = 10 * time.Minute, 10 * time.Second
	// identifiedWithin is how long a tool waits for the server to say who it is, at first.
	identifiedWithin = time.Minute
)

// fileBackups is how the backups of a server are read, as it is written.
type fileBackups struct {
	Tool, Name, File string
	Command          []string
	line             int
}

func parseBackups(r *strictyaml.Reader, into **fileBackups) strictyaml.Member {
	return func(n *strictyaml.Node, field string) {
		b := fileBackups{line: n.Line}
		r.Mapping(n, field, nil, map[string]strictyaml.Member{
			"tool": r.Text(&b.Tool), "name": r.Text(&b.Name), "file": r.Text(&b.File),
			"command": func(n *strictyaml.Node, field string) {
				r.Sequence(n, field, func(n *strictyaml.Node, field string) {
					var word string
					r.TextOrNumber(&word)(n, field)
					b.Command = append(b.Command, word)
				})
			},
		})
		*into = &b
	}
}

// backups holds how backups are read against the rules; nil: they are not.
func (r *rules) backups(f *fileBackups, of fleet.Engine) *backuptool.Tool {
	if f == nil {
		return nil
	}
	t := &backuptool.Tool{Source: backups.Source(f.Tool), Name: f.Name, Command: f.Command, File: f.File}
	if !slices.Contains(backuptool.Sources(), t.Source) {
		r.breaks(f.line, "backups.tool", fmt.Sprintf("is %q, and none of pgbackrest, barman, wal-g", cut(f.Tool, 50)))
	}
	if of != fleet.PostgreSQL {
		r.breaks(f.line, "backups", "are read by these tools of postgresql only")
	}
	switch {
	case (len(f.Command) == 0) == (f.File == ""):
		r.breaks(f.line, "backups", "needs either command or file")
	case f.File != "" && !filepath.IsAbs(f.File):
		r.breaks(f.line, "backups.file", "is no whole path")
	case f.File == "" && !filepath.IsAbs(f.Command[0]):
		r.breaks(f.line, "backups.command", "must begin with the whole path of a program: no shell looks for it")
	case slices.ContainsFunc(f.Command, func(word string) bool { return strings.ContainsRune(word, 0) }):
		r.breaks(f.line, "backups.command", "has a word with U+0000")
	}
	return t
}

// readBackups asks the server's backup tool until ctx ends.
func (w *watched) readBackups(ctx context.Context) error {
	a := w.agent
	troubles := measure.Troubles{Log: a.Log.With("server", w.ExternalID), Fails: "the backup tool of a server does not tell of its backups", Works: "the backup tool of a server tells of its backups again"}
	began, last := time.Now(), time.Time{}
	return pause.Every(ctx, backupsLook, func() {
		w.mu.Lock()
		system := w.system
		w.mu.Unlock()
		now := time.Now()
		if !last.IsZero() && now.Sub(last) < backupsEvery || system == "" && now.Sub(began) < identifiedWithin {
			return
		}
		last = now
		look := w.Backups.Look(ctx, system, instant.Cut(a.Now()))
		if ctx.Err() != nil {
			return
		}
		var err error
		if look.Condition != backups.Works {
			err = errors.New(look.Why)
		}
		troubles.Note(ctx, string(look.Source), err)
		look.Instance = w.id
		troubles.Note(ctx, "keeping", w.Record(ctx, measurements.Batch{Backups: []backups.Look{look}}, nil))
	})
}

package sqlserver

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/internal/engine/sqlserver"
	"muster/internal/intake/measure"
	"muster/internal/intake/sqltext"
	"muster/internal/measurements/blocking"
	"muster/internal/servers"
)

// unnamed are the blockers that are no sessions, by the ids that the server gives them.
var unnamed = map[string]blocking.Kind{"-2": blocking.Distributed, "-3": blocking.Recovery, "-4": blocking.Latch, "-5": blocking.Latch}

// loginTime is how the server writes when a session began.
const loginTime = "2006-01-02T15:04:05.999"

// Blocking reads who waits for whom.
func (r *reader) Blocking(ctx context.Context, l *measure.Line, at time.Time, texts bool) (*blocking.Look, error) {
	look := &blocking.Look{At: at}
	wants := "0"
	if texts {
		wants = "1"
	}
	text := strings.NewReplacer("@texts", wants, "@application@", servers.ApplicationName).Replace(query("blocking"))
	places := map[string]int{}
	read, all := 0, 0
	err := l.Each(ctx, servers.Statement{Columns: 17, Text: text}, func(row [][]byte) error {
		n, err := r.blockingNode(row, at)
		if err != nil {
			return err
		}
		if all, err = strconv.Atoi(string(row[16])); err != nil {
			return measure.ErrNonsense
		}
		read++
		if i, known := places[n.Session]; !known {
			places[n.Session] = len(look.Nodes)
			look.Nodes = append(look.Nodes, n)
		} else if look.Nodes[i].Waits == nil && n.Waits != nil { // another request of it waits
			look.Nodes[i] = n
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	look.Omitted = max(all-read, 0)
	for _, n := range look.Nodes {
		for _, id := range n.For {
			if kind, is := unnamed[id]; is && !slices.ContainsFunc(look.Nodes, func(n blocking.Node) bool { return n.Session == id }) {
				look.Nodes = append(look.Nodes, blocking.Node{Session: id, Kind: kind})
			}
		}
	}
	return look, nil
}

// blockingNode is a session as a row has it.
func (r *reader) blockingNode(row [][]byte, at time.Time) (blocking.Node, error) {
	number, err1 := strconv.ParseUint(string(row[5]), 10, 32)
	_, err2 := strconv.Atoi(string(row[0]))
	open, err3 := strconv.Atoi(string(row[7]))
	if errors.Join(err1, err2, err3) != nil {
		return blocking.Node{}, measure.ErrNonsense
	}
	n := blocking.Node{
		Session: string(row[0]), Kind: blocking.System, User: string(row[2]), Application: string(row[3]), Client: strings.TrimSpace(string(row[4])),
		State: strings.ToLower(string(row[6])), StatementID: string(row[13]),
		Statement: sqltext.Normalize(sqlserver.Engine.Dialect, string(row[14])),
	}
	if user := string(row[8]); user == "1" || user == "true" {
		n.Kind = blocking.Client
	}
	if began, err := time.Parse(loginTime, string(row[1])); err == nil {
		n.Began = &began
	}
	if i := slices.IndexFunc(r.databases, func(d database) bool { return uint64(d.id) == number }); i >= 0 {
		n.Database = r.databases[i].name
	}
	n.Idle = n.State == "sleeping" && open > 0
	if idle, err := strconv.ParseInt(string(row[15]), 10, 64); err == nil {
		n.Changed = before(at, idle)
	}
	blocker := string(row[9])
	if blocker == "0" || blocker == "" {
		return n, nil
	}
	waited, err := strconv.ParseInt(string(row[11]), 10, 64)
	if err != nil {
		return blocking.Node{}, measure.ErrNonsense
	}
	n.Waits, n.For = before(at, waited), []string{blocker}
	n.Lock, n.Object = string(row[10]), strings.TrimSpace(string(row[12]))
	n.Mode = strings.TrimPrefix(n.Lock, "LCK_M_")
	n.Advisory = strings.HasPrefix(n.Object, "APPLICATION:")
	return n, nil
}

// before is a time so many milliseconds before another.
func before(at time.Time, milliseconds int64) *time.Time {
	then := at.Add(-time.Duration(max(milliseconds, 0)) * time.Millisecond)
	return &then
}

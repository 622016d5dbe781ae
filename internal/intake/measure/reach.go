package measure

import (
	"context"
	"errors"
	"strings"
	"time"

	"muster/domain/instant"
	"muster/internal/measurements"
	"muster/internal/servers"
	"muster/internal/watch/status"
)

// outage is the time since the connection was lost: since when, and what the server said last.
type outage struct {
	since       time.Time
	code, words string
}

// note remembers a failure of the connection's last statement, if the connection was lost with
// it.
func (s *Server) note(err error) {
	if !s.line.Closed() {
		return
	}
	s.outage = outage{since: instant.Cut(s.Now())}
	if said, ok := errors.AsType[*servers.Refusal](err); ok {
		s.outage.code, s.outage.words = strings.TrimPrefix(said.Code, "SQLSTATE "), said.Words
	}
}

// connected is an attempt that succeeded: the server answers.
func (s *Server) connected(at time.Time) measurements.Reached {
	return measurements.Reached{Instance: s.Instance, Up: true, At: at}
}

// refused is an attempt that failed. Its code is what the server said last, if it said
// anything since the connection was lost: that tells a shutdown from a crash.
func (s *Server) refused(why *servers.ConnectionError) measurements.Reached {
	if why.Code != "" && why.Code != "dns" {
		s.outage.code, s.outage.words = why.Code, ""
	}
	r := measurements.Reached{
		Instance: s.Instance, At: instant.Cut(s.Now()), Since: s.outage.since, Code: why.Reason(), Sentence: why.Sentence,
	}
	if s.outage.code != "" && why.Class != servers.ClassNotAllowed {
		r.Code = s.outage.code
	}
	if s.outage.words != "" {
		r.Sentence = status.WithLastWords(r.Sentence, s.outage.code, s.outage.words)
	}
	return r
}

// restarted is what was missed, learned at a time: the server went down when the connection
// was lost, and was up again before it was tried.
func (s *Server) restarted(lost, at time.Time) measurements.Reached {
	r := s.connected(at)
	r.Fell = lost
	return r
}

// overslept says whether the last attempt to connect took longer than any may, or than one to
// a server that is silent: this process stood still meanwhile, and the server is not to blame.
func (s *Server) overslept() bool {
	took := instant.Cut(s.Now()).Sub(s.attempted)
	return took > servers.LoginTimeout+slow || s.failures == 1 && took > servers.ConnectTimeout+slow
}

// slow is after how long a server that takes its time over a round is said to answer, before
// the round is over.
const slow = 5 * time.Second

// reportSlow says that a server answers which takes its time.
func (s *Server) reportSlow(ctx context.Context) error {
	now := instant.Cut(s.Now())
	if now.Sub(s.answered) < slow {
		return nil
	}
	s.answered = now
	return s.report(ctx, s.connected(now))
}

// unread is what a round says that could not read the sessions. A server that refused the
// query has answered.
func (s *Server) unread(at time.Time, err error) []measurements.Reached {
	outcomes := []measurements.Reached{s.part(status.Sessions, at, err)}
	if _, answered := errors.AsType[*servers.Refusal](err); answered && !s.line.Closed() {
		outcomes = append(outcomes, s.connected(at))
	}
	return outcomes
}

// statements is how the statements were read; list: whether there was one.
func (s *Server) statements(list bool, at time.Time, err error) measurements.Reached {
	r := s.part(status.Statements, at, err)
	if !list && err == nil {
		r.Up, r.Code, r.Sentence = false, status.CodeNotAvailable, "The server has no statement statistics that Muster's account may read."
	}
	return r
}

// part is how a part was measured.
func (s *Server) part(part status.Part, at time.Time, err error) measurements.Reached {
	r := measurements.Reached{Instance: s.Instance, Part: string(part), Up: err == nil, At: at}
	if err == nil {
		return r
	}
	r.Code, r.Sentence = "failed", "It could not be read."
	switch answer, ok := errors.AsType[*servers.Refusal](err); {
	case ok:
		r.Code = strings.TrimPrefix(answer.Code, "SQLSTATE ")
		if r.Sentence = known[answer.Code]; r.Sentence == "" || answer.Reason == servers.Denied {
			r.Sentence = sentenceOf(answer.Reason)
		}
	case servers.ReasonOf(err) == servers.TimedOut:
		r.Code, r.Sentence = "timeout", sentenceOf(servers.TimedOut)
	}
	return r
}

// known says what codes of the server's mean that an administrator meets where nothing is wrong with Muster.
var known = map[string]string{
	"ORA-00942":      "The view is granted, and does not exist for Muster: look for Bad TTC Packet in the alert log of the server.",
	"error 927":      "A backup of the database is being restored.",
	"error 942":      "The database is offline.",
	"error 952":      "The database is changing its state.",
	"error 976":      "A database is on a secondary replica that accepts no readers.",
	"error 978":      "The replica takes connections with read intent only: add applicationIntent=ReadOnly.",
	"error 983":      "The replica of the database is neither primary nor secondary now.",
	"error -2":       "The server did not answer in time.",
	"error 1222":     "Another session holds a lock on what is read.",
	"ORA-12850":      "The cluster had no process for the query on each node.",
	"ORA-01013":      "The server did not answer in time.",
	"ORA-03113":      "The server ended the session.",
	"ORA-04031":      "The shared pool of the server has no room.",
	"ORA-01219":      "The database is mounted, and not open.",
	"SQLSTATE 57014": "The server did not answer in time.",
}

func sentenceOf(why servers.Reason) string {
	switch why {
	case servers.Denied:
		return "Muster's account may not read it."
	case servers.Absent:
		return "The server does not have it."
	case servers.TimedOut:
		return "The server did not answer in time."
	case servers.Failed:
	}
	return "The server refused the query."
}

// checkEvery is how often the server is asked whether it answers, where its sessions are not
// read as often.
const checkEvery = 10 * time.Second

// checkQuery reads nothing. It is SQL Server's: the sessions of the other engines are read
// every checkEvery.
const checkQuery = "SELECT 1"

// check asks the server for nothing, to see whether it still answers.
func (s *Server) check(ctx context.Context) error {
	at := instant.Cut(s.Now())
	err := s.line.Each(ctx, servers.Statement{Columns: 1, Text: checkQuery}, func([][]byte) error { return nil })
	if s.went(connection, err) == nil {
		return s.report(ctx, s.connected(at))
	}
	s.note(err)
	return errors.Join(err, s.report(ctx, s.unread(at, err)...))
}

// report keeps outcomes that come without samples.
func (s *Server) report(ctx context.Context, outcomes ...measurements.Reached) error {
	if ctx.Err() != nil {
		return nil // we were told to end: the server is not to blame
	}
	return s.home.Record(ctx, measurements.Batch{Organization: s.Organization, Reached: outcomes}, nil)
}

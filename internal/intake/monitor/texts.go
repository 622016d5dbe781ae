package monitor

import (
	"cmp"
	"context"
	_ "embed" // the query
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/intake/sqltext"
	"muster/internal/servers"
)

//go:embed sql/texts.sql
var textsQuery string

const (
	// textsAtOnce bounds one answer with texts: a server that has this many that are
	// new gives the dearest, and the others in the next rounds.
	textsAtOnce = 1000
	// textsAgain is after how long texts are asked for anew. They were deleted where
	// an organization did without them for less than a minute.
	textsAgain = 24 * time.Hour
	// textsPause is how long a server that failed to give them is left alone.
	textsPause = 10 * time.Minute
)

// Texts knows which organizations keep the texts of statements; *accounts.Store does.
type Texts interface {
	KeepsTexts(ctx context.Context, organization uuid.UUID) (bool, error)
}

// textKey is what a statement has one text by, on whichever level it is called.
type textKey struct {
	database, user uint32
	query          int64
}

func (k statementKey) textKey() textKey { return textKey{k.database, k.user, k.query} }

// find is the entry of a key; nil: there is none.
func (l *statementList) find(key statementKey) *counters {
	at, found := slices.BinarySearchFunc(l.entries, key, func(e counters, key statementKey) int { return e.compare(key) })
	if !found {
		return nil
	}
	return &l.entries[at]
}

// inherit marks the entries whose texts were told with an earlier list, unless that was
// too long ago.
func (l *statementList) inherit(last *statementList) {
	if last.toldSince.IsZero() || l.at.Sub(last.toldSince) >= textsAgain {
		return
	}
	l.toldSince = last.toldSince
	earlier := last.entries
	for i := range l.entries {
		e := &l.entries[i]
		for len(earlier) > 0 && earlier[0].compare(e.statementKey) < 0 {
			earlier = earlier[1:]
		}
		e.told = len(earlier) > 0 && earlier[0].statementKey == e.statementKey && earlier[0].told
	}
}

// untold are the entries of what was executed whose texts were not told yet, the
// dearest first, at most textsAtOnce.
func (l *statementList) untold(deltas []delta) []*counters {
	byCost := slices.Clone(deltas)
	slices.SortFunc(byCost, func(a, b delta) int {
		return cmp.Or(cmp.Compare(b.totalMs, a.totalMs), a.compare(b.statementKey))
	})
	var out []*counters
	for _, d := range byCost {
		if e := l.find(d.statementKey); e != nil && !e.told && len(out) < textsAtOnce {
			out = append(out, e)
		}
	}
	return out
}

// readTexts reads the texts of what was executed that the store has not been given,
// where the organization keeps texts. That it was is kept with the list, so that it
// holds if the list does. Statements without a text are asked for once, too.
func (s *server) readTexts(ctx context.Context, now *statementList, deltas []delta) (map[textKey]string, error) {
	if s.Texts == nil {
		return nil, nil
	}
	keeps, err := s.Texts.KeepsTexts(ctx, s.claim.Organization)
	if err != nil || !keeps {
		return nil, err
	}
	now.inherit(s.last)
	if now.at.Before(s.textsAfter) {
		return nil, nil
	}
	untold := now.untold(deltas)
	if len(untold) == 0 {
		return nil, nil
	}
	texts, err := s.extension.readTexts(ctx, s.session, untold)
	if err != nil {
		s.textsAfter = now.at.Add(textsPause)
		return nil, err
	}
	if now.toldSince.IsZero() {
		now.toldSince = now.at
	}
	for _, e := range untold {
		e.told = true
	}
	return texts, nil
}

// readTexts returns texts as they may be kept, by the lexer. Nothing else sees them as
// the server has them.
func (x *extension) readTexts(ctx context.Context, s servers.Session, of []*counters) (map[textKey]string, error) {
	wanted := make(map[textKey]bool, len(of))
	queries := make([]string, len(of))
	for i, e := range of {
		wanted[e.textKey()] = true
		queries[i] = strconv.FormatInt(e.query, 10)
	}
	texts := make(map[textKey]string, len(of))
	err := s.Each(ctx, 4, strings.ReplaceAll(x.texts, "@queries@", strings.Join(queries, ",")), func(row [][]byte) error {
		database, err1 := strconv.ParseUint(string(row[0]), 10, 32)
		user, err2 := strconv.ParseUint(string(row[1]), 10, 32)
		query, err3 := strconv.ParseInt(string(row[2]), 10, 64)
		if errors.Join(err1, err2, err3) != nil {
			return errNonsense
		}
		if key := (textKey{uint32(database), uint32(user), query}); wanted[key] {
			texts[key] = sqltext.Normalize(fleet.PostgreSQL, string(row[3]))
		}
		return nil
	})
	return texts, err
}

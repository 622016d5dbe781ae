package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"muster/domain/instant"
)

const (
	// textsAtOnce bounds one answer with texts: a server that has this many that are
	// new gives the dearest, and the others in the next rounds.
	textsAtOnce = 1000
	// textsAgain is after how long texts are asked for anew. They were deleted where
	// an organization did without them for less than a minute.
	textsAgain = 24 * time.Hour
	// textsPause is how long a server that failed to give them is left alone.
	textsPause = 10 * time.Minute
	// textsShare bounds what texts cost: a server that took some seconds to give them is
	// left alone for so many times as long. PostgreSQL reads its whole file of texts for
	// each answer, 2.8 s for 1,500 of 300 kB.
	textsShare = 100
)

// TextsLeftError says for which statements there was no time left to ask for their texts: they are asked for later.
type TextsLeftError struct{ Of []Ref }

func (e *TextsLeftError) Error() string {
	return fmt.Sprintf("no time was left for %d texts", len(e.Of))
}

// inherit marks the statements whose texts were told with an earlier list and that are
// still on this one, unless that was too long ago.
func (l *List) inherit(last *List) {
	if last.ToldSince.IsZero() || l.At.Sub(last.ToldSince) >= textsAgain {
		return
	}
	l.ToldSince, l.Told = last.ToldSince, make(map[Ref]bool, len(last.Told))
	for _, e := range l.Entries {
		if last.Told[e.ref()] {
			l.Told[e.ref()] = true
		}
	}
}

// untold are the statements that were executed whose texts were not told yet, the
// dearest first, at most textsAtOnce.
func (l *List) untold(deltas []delta) []Ref {
	byCost := slices.Clone(deltas)
	slices.SortFunc(byCost, func(a, b delta) int {
		return cmp.Or(cmp.Compare(b.totalMs, a.totalMs), a.compare(b.Ref))
	})
	var out []Ref
	for _, d := range byCost {
		if !l.Told[d.Ref] && len(out) < textsAtOnce {
			out = append(out, d.Ref)
		}
	}
	return out
}

// readTexts reads the texts of what was executed that the store has not been given,
// where they are wanted. That it was is kept with the list, so that it holds if the list
// does. Statements without a text are asked for once, too.
func (s *Server) readTexts(ctx context.Context, now *List, deltas []delta) (map[Ref]string, error) {
	keeps, err := s.home.KeepsTexts(ctx)
	if err != nil || !keeps {
		return nil, err
	}
	now.inherit(s.last)
	if now.At.Before(s.textsAfter) {
		return nil, nil
	}
	untold := now.untold(deltas)
	if len(untold) == 0 {
		return nil, nil
	}
	began := s.Now()
	texts, err := s.counts.reader.Texts(ctx, s.counts.line, untold)
	s.textsAfter = now.At.Add(textsShare * s.Now().Sub(began))
	left, inPart := errors.AsType[*TextsLeftError](err)
	if inPart {
		err = nil
	}
	if s.counts.went("texts", err) != nil {
		s.textsAfter = instant.Later(s.textsAfter, now.At.Add(textsPause))
		return nil, err
	}
	if now.ToldSince.IsZero() {
		now.ToldSince, now.Told = now.At, make(map[Ref]bool, len(untold))
	}
	for _, ref := range untold {
		now.Told[ref] = true
	}
	if inPart {
		for _, ref := range left.Of {
			delete(now.Told, ref)
		}
	}
	return texts, nil
}

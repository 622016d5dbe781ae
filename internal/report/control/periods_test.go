package control_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/assessment"
	"muster/internal/report/control"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

func look(at int, answers ...assessment.Answer) control.Look {
	return control.Look{ID: uuid.New(), At: minute(at), Answers: answers}
}

var (
	pass  = assessment.Answer{Status: "pass"}
	fail  = assessment.Answer{Status: "fail", Failing: 1}
	blind = assessment.Answer{Status: "not_assessed", Reason: "no grant"}
	other = assessment.Answer{Status: "not_applicable"}
	alive = control.Life{{At: minute(-1_000_000), Known: true, Alive: true}}
)

const day = 24 * 60

// told says what the periods are, in minutes after noon.
func told(c control.Course) (words []string) {
	for _, p := range c.Periods {
		words = append(words, fmt.Sprintf("%d-%d %s %d %v", int(p.From.Sub(noon).Minutes()), int(p.To.Sub(noon).Minutes()), p.State, p.Looks, p.Reasons))
	}
	return words
}

// TestPeriods: each case is what is recorded about two days, and what follows.
func TestPeriods(t *testing.T) {
	t.Parallel()
	billing := "billing"
	all := control.Exception{ID: uuid.New(), From: minute(60), To: minute(120)}
	narrow := control.Exception{ID: uuid.New(), Database: &billing, From: minute(60), To: minute(120)}
	object := control.Exception{ID: uuid.New(), Object: "t", From: minute(60), To: minute(120)}
	inBilling := assessment.Answer{Database: "billing", Status: "fail", Failing: 1}
	listed := func(failing int, objects ...string) control.Look {
		l := look(0, assessment.Answer{Status: "fail", Failing: failing})
		l.Objects = map[string][]string{"": objects}
		return l
	}
	for name, c := range map[string]struct {
		life       control.Life
		looks      []control.Look
		exceptions []control.Exception
		want       []string
	}{
		"nothing":                    {alive, nil, nil, []string{"0-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"one holds for a day":        {alive, []control.Look{look(10, pass)}, nil, []string{"0-10 notAssessed 0 [No assessment in the 24 hours before.]", "10-1450 passed 1 []", "1450-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"one from before":            {alive, []control.Look{look(-day+5, fail)}, nil, []string{"0-5 failed 0 []", "5-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"until the next":             {alive, []control.Look{look(0, pass), look(60, pass), look(90, fail)}, nil, []string{"0-90 passed 2 []", "90-1530 failed 1 []", "1530-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"could not look":             {alive, []control.Look{look(0, pass), look(60, blind)}, nil, []string{"0-60 passed 1 []", "60-2880 notAssessed 1 [no grant No assessment in the 24 hours before.]"}},
		"did not ask":                {alive, []control.Look{look(0), look(60, pass)}, nil, []string{"0-60 notAssessed 1 [The assessment did not ask for this check.]", "60-1500 passed 1 []", "1500-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"a database of several":      {alive, []control.Look{look(0, pass, inBilling, blind)}, nil, []string{"0-1440 failed 1 []", "1440-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"one of them is closed":      {alive, []control.Look{look(0, pass, blind, other)}, nil, []string{"0-2880 notAssessed 1 [no grant No assessment in the 24 hours before.]"}},
		"does not apply to one":      {alive, []control.Look{look(0, pass, other)}, nil, []string{"0-1440 passed 1 []", "1440-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"does not apply":             {alive, []control.Look{look(0, other)}, nil, []string{"0-2880 notAssessed 1 [The check does not apply here. No assessment in the 24 hours before.]"}},
		"an exception":               {alive, []control.Look{look(0, fail)}, []control.Exception{all}, []string{"0-60 failed 1 []", "60-120 accepted 0 []", "120-1440 failed 0 []", "1440-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"one about another database": {alive, []control.Look{look(0, fail)}, []control.Exception{narrow}, []string{"0-1440 failed 1 []", "1440-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"one about half of it":       {alive, []control.Look{look(0, fail, inBilling)}, []control.Exception{narrow}, []string{"0-1440 failed 1 []", "1440-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"accepted and blind":         {alive, []control.Look{look(0, fail, blind)}, []control.Exception{all}, []string{"0-60 failed 1 []", "60-120 notAssessed 0 [no grant]", "120-1440 failed 0 []", "1440-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"one about the object":       {alive, []control.Look{listed(1, "t")}, []control.Exception{object}, []string{"0-60 failed 1 []", "60-120 accepted 0 []", "120-1440 failed 0 []", "1440-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"one of two objects":         {alive, []control.Look{listed(2, "t", "u")}, []control.Exception{object}, []string{"0-1440 failed 1 []", "1440-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"behind the listed":          {alive, []control.Look{listed(2, "t")}, []control.Exception{object}, []string{"0-1440 failed 1 []", "1440-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"no objects":                 {alive, []control.Look{listed(1)}, []control.Exception{object}, []string{"0-1440 failed 1 []", "1440-2880 notAssessed 0 [No assessment in the 24 hours before.]"}},
		"registered and removed": {
			control.Life{{At: minute(30), Known: true, Alive: true}, {At: minute(60), Known: true}, {At: minute(90), Known: true, Alive: true}, {At: minute(120)}},
			[]control.Look{look(40, pass)}, nil,
			[]string{"30-40 notAssessed 0 [No assessment in the 24 hours before.]", "40-60 passed 1 []", "60-90 notAssessed 0 [The server was inactive.]", "90-120 passed 0 []"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := told(control.Periods(minute(0), minute(2*day), c.life, c.looks, c.exceptions)); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestFigures are of the life of a server within the window.
func TestFigures(t *testing.T) {
	t.Parallel()
	life := control.Life{{At: minute(100), Known: true, Alive: true}, {At: minute(300), Known: true}, {At: minute(500)}}
	c := control.Periods(minute(0), minute(1000), life, []control.Look{look(150, pass), look(200, blind), look(250, pass)}, nil)
	if c.Life != 400*time.Minute || c.PassedShare() != 0.25 || c.LongestGap != 200*time.Minute {
		t.Errorf("life %s, share %v, gap %s", c.Life, c.PassedShare(), c.LongestGap)
	}
}

// drawn is what a random server was through.
type drawn struct {
	life       control.Life
	looks      []control.Look
	exceptions []control.Exception
}

func draw(r *rand.Rand, length int) (d drawn) {
	if r.IntN(3) > 0 {
		d.life = append(d.life, control.Turn{At: minute(r.IntN(length) - length/2), Known: true, Alive: r.IntN(4) > 0})
		for at := d.life[0].At; r.IntN(2) == 0; {
			at = at.Add(time.Duration(r.IntN(length)) * time.Minute)
			d.life = append(d.life, control.Turn{At: at, Known: true, Alive: r.IntN(2) == 0})
		}
		if r.IntN(3) == 0 {
			d.life = append(d.life, control.Turn{At: d.life[len(d.life)-1].At.Add(time.Duration(r.IntN(length)) * time.Minute)})
		}
	}
	statuses := []string{"pass", "pass", "fail", "fail", "not_assessed", "not_applicable"}
	for at := -day + r.IntN(day); at < length; at += 1 + r.IntN(2*day) {
		l := look(at)
		l.Objects = map[string][]string{}
		for _, database := range []string{"", "a", "b"}[:r.IntN(4)] {
			one := assessment.Answer{Database: database, Status: statuses[r.IntN(len(statuses))], Reason: "why"}
			l.Objects[database] = []string{"t", "u"}[:r.IntN(3)]
			one.Failing = len(l.Objects[database]) + r.IntN(2)
			l.Answers = append(l.Answers, one)
		}
		d.looks = append(d.looks, l)
	}
	for range r.IntN(4) {
		from := r.IntN(2*length) - length/2
		x := control.Exception{ID: uuid.New(), From: minute(from), To: minute(from + r.IntN(length)), Object: []string{"", "", "t", "u"}[r.IntN(4)]}
		if database := "a"; r.IntN(3) == 0 {
			x.Database = &database
		}
		d.exceptions = append(d.exceptions, x)
	}
	return d
}

// at is the state of one minute, from the rules as they are written in doc.go.
func (d drawn) at(now time.Time) (state control.State, known bool) {
	active := false
	for _, t := range d.life {
		if !t.At.After(now) {
			known, active = t.Known, t.Alive
		}
	}
	var answer *control.Look
	for i := range d.looks {
		if !d.looks[i].At.After(now) {
			answer = &d.looks[i]
		}
	}
	if !active || answer == nil || now.Sub(answer.At) >= 24*time.Hour {
		return control.NotAssessed, known
	}
	count := map[string]int{}
	for _, a := range answer.Answers {
		status := a.Status
		if status == "fail" && d.covered(now, a, answer.Objects[a.Database]) {
			status = "accepted"
		}
		count[status]++
	}
	switch {
	case count["fail"] > 0:
		return control.Failed, known
	case count["not_assessed"] > 0:
		return control.NotAssessed, known
	case count["accepted"] > 0:
		return control.Accepted, known
	case count["pass"] > 0:
		return control.Passed, known
	}
	return control.NotAssessed, known
}

func (d drawn) covered(now time.Time, a assessment.Answer, objects []string) bool {
	left := map[string]bool{"nobody knows its name": a.Failing > len(objects) || len(objects) == 0}
	for _, object := range objects {
		left[object] = true
	}
	for _, x := range d.exceptions {
		if now.Before(x.From) || !now.Before(x.To) || x.Database != nil && *x.Database != a.Database {
			continue
		}
		if x.Object == "" {
			return true
		}
		delete(left, x.Object)
	}
	for _, open := range left {
		if open {
			return false
		}
	}
	return true
}

// TestPeriodsAgreeWithEveryMinute: whatever is recorded, the periods say of each minute
// what its own calculation says, and the figures are sums over minutes.
func TestPeriodsAgreeWithEveryMinute(t *testing.T) {
	t.Parallel()
	const length = 5 * day
	for seed := range uint64(60) {
		d := draw(rand.New(rand.NewPCG(seed, 16)), length)
		c := control.Periods(minute(0), minute(length), d.life, d.looks, d.exceptions)
		looks := 0
		for i, p := range c.Periods {
			looks += p.Looks
			if !p.From.Before(p.To) || i > 0 && (!p.From.Equal(c.Periods[i-1].To) || p.State == c.Periods[i-1].State && p.State != control.Accepted) {
				t.Fatalf("seed %d: period %d of %q", seed, i, told(c))
			}
			if (p.State == control.Accepted) != (p.Exception != nil) || (p.State == control.NotAssessed) != (len(p.Reasons) > 0) {
				t.Fatalf("seed %d: period %d is %+v", seed, i, p)
			}
		}
		var passed, life, gap, longest, within int
		p := 0
		for m := range length {
			for p < len(c.Periods) && !minute(m).Before(c.Periods[p].To) {
				p++
			}
			want, known := d.at(minute(m))
			in := p < len(c.Periods) && !minute(m).Before(c.Periods[p].From)
			if in != known || in && c.Periods[p].State != want {
				t.Fatalf("seed %d, minute %d: want %s (known %t) of %q", seed, m, want, known, told(c))
			}
			if known {
				life++
			}
			if want == control.Passed {
				passed++
			}
			if gap++; !known || want != control.NotAssessed {
				gap = 0
			}
			longest = max(longest, gap)
		}
		for _, l := range d.looks {
			if _, known := d.at(l.At); known && !l.At.Before(minute(0)) && l.At.Before(minute(length)) {
				within++
			}
		}
		if c.Passed != time.Duration(passed)*time.Minute || c.Life != time.Duration(life)*time.Minute || c.LongestGap != time.Duration(longest)*time.Minute || looks != within {
			t.Fatalf("seed %d: %s of %s passed, gap %s, %d assessments; want %d, %d, %d minutes, %d", seed, c.Passed, c.Life, c.LongestGap, looks, passed, life, longest, within)
		}
	}
}

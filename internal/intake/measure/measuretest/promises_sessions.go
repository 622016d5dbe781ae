package measuretest

import (
	"slices"
	"strings"

	"muster/internal/servers"
)

func sessionsAreSplit(s *scene) {
	on := Sessions{Active: 1, Idle: 3, InTransaction: 2, Waiting: 4, Other: 1}
	s.Connect("app", on)
	b := s.well()
	got := s.sessionsOf(b, "app")
	if got == nil || (Sessions{got.Active, got.Idle, got.IdleInTransaction, got.Waiting, got.Other}) != on {
		s.Fatalf("got %+v, want %+v", got, on)
	}
	if got.Waits[s.Has().Lock] != on.Waiting {
		s.Errorf("they wait for %v, %d of them for %s", got.Waits, on.Waiting, s.Has().Lock)
	}
	if crm := s.sessionsOf(b, "crm"); crm == nil || crm.Active+crm.Idle+crm.IdleInTransaction+crm.Waiting+crm.Other != 0 || len(crm.Waits) > 0 {
		s.Errorf("where nobody is: %+v", crm)
	}
	s.Connect("app", Sessions{})
	if got := s.sessionsOf(s.well(), "app"); got == nil || got.Active+got.Idle+got.IdleInTransaction+got.Waiting+got.Other != 0 || len(got.Waits) > 0 {
		s.Errorf("they are gone: %+v", got)
	}
}

// ourOwnSessionsDoNotCount: a server that is simulated has none of ours, and is asked to
// leave them out; a real one does.
func ourOwnSessionsDoNotCount(s *scene) {
	s.well()
	asked := slices.ContainsFunc(s.heard, func(q string) bool {
		return strings.Contains(q, "'"+servers.ApplicationName+"'") && !strings.Contains(q, "@application@")
	})
	if !asked {
		s.Errorf("no query leaves out ours: %q", s.heard)
	}
	for _, one := range s.home.Batches[0].Sessions {
		if one.Active+one.Idle+one.IdleInTransaction+one.Waiting+one.Other != 0 && s.states[s.names[one.Database]] != "" {
			s.Errorf("nobody is on %s but us: %+v", s.names[one.Database], one)
		}
	}
}

func databasesComeAndGo(s *scene) {
	s.basis()
	s.states["late"] = Open
	s.Create("late")
	s.execute("late", "one", 3, 5)
	if b := s.well(); s.sessionsOf(b, "late") == nil {
		s.Error("it has no sample at once")
	}
	s.forget()
	s.execute("late", "one", 2, 5)
	s.exactly("it is there")
	id := s.home.Known["late"]
	s.Drop("late")
	s.execute("app", "one", 2, 5)
	if b := s.exactly("it is gone"); s.sessionsOf(b, "late") != nil || s.statementsOf(b, "late") != nil {
		s.Errorf("%+v", b)
	}
	s.Create("late") // another one
	s.forget()
	s.execute("late", "one", 1, 5)
	s.well()
	if s.home.Known["late"] == id {
		s.Error("it is still the one that is gone")
	}
	s.forget()
	s.execute("late", "one", 7, 5)
	s.exactly("another one")
}

func databasesAreInStates(s *scene) {
	s.Connect("app", Sessions{Idle: 1})
	s.execute("app", "one", 2, 5)
	s.basis()
	s.forget()
	for _, state := range s.Has().States {
		if state.closed() {
			s.Connect("app", Sessions{})
		}
		s.states["app"] = state
		s.Put("app", state)
		s.execute("crm", "one", 3, 5)
		b := s.exactly(string(state))
		if _, listed := s.home.Known["app"]; !listed || s.sessionsOf(b, "crm") == nil || (s.sessionsOf(b, "app") == nil) != state.closed() {
			s.Errorf("%s: listed %t, %+v", state, listed, b.Sessions)
		}
		s.well()
		if state.closed() {
			s.states["app"] = Open
		} else {
			s.forget()
			s.execute("app", "one", 3, 5)
			s.exactly(string(state))
		}
		s.Put("app", Open)
		s.Connect("app", Sessions{Idle: 1})
		s.well()
		s.well()
		s.forget()
		s.execute("app", "one", 3, 5)
		if b := s.exactly(string(state) + " no more"); s.sessionsOf(b, "app") == nil || s.sessionsOf(b, "app").Idle != 1 {
			s.Errorf("%s no more: %+v", state, b.Sessions)
		}
	}
}

func namesSurvive(s *scene) {
	names := []string{"[odd]]", `say "hi"`, "it's", "Łódź 😀", "per%cent_{database}", "@list@ids @databases\n--list a,b"}
	for _, name := range names {
		s.states[name] = Open
		s.Create(name)
		s.execute(name, "one", 1, 5)
	}
	s.basis()
	s.forget()
	for i, name := range names {
		s.execute(name, "one", i+1, 5)
		s.execute(name, "other", 2, 5)
	}
	b := s.exactly("odd names")
	for _, name := range names {
		if s.home.Known[name] != s.sessionsOf(b, name).Database {
			s.Errorf("%s has no sample", name)
		}
		s.Drop(name)
	}
}

// grantsAreTakenAway: each costs its own part, is named, and is as ever when it is back.
func grantsAreTakenAway(s *scene) {
	s.Connect("app", Sessions{Idle: 2})
	s.execute("app", "one", 2, 5)
	s.basis()
	if len(s.home.Lacking) > 0 {
		s.Errorf("nothing is taken yet: %+v", s.home.Lacking)
	}
	for i, part := range s.Has().Parts {
		s.forget()
		s.Take(part)
		s.execute("app", "one", 3, 5)
		_, _ = s.round()
		s.execute("crm", "since_"+strings.Repeat("x", i+1), 1, 5)
		b, err := s.round() // some find out as they are refused, or where something is new
		if (s.sessionsOf(b, "app") == nil) != part.Sessions || part.Statements && s.statementsOf(b, "app") != nil {
			s.Errorf("%s: %v, sessions %+v, statements %+v", part.Name, err, b.Sessions, b.Statements)
		}
		if !part.Statements {
			s.execute("app", "one", 4, 5)
			_, _ = s.round()
			s.forget()
			s.execute("app", "one", 4, 5)
			_, _ = s.round()
			s.same(part.Name + " is taken, which is not the statements'")
		}
		if !slices.ContainsFunc(s.home.grants(), func(g string) bool { return strings.Contains(g, part.Grant) }) {
			s.Errorf("%s: it lacks %q", part.Name, s.home.grants())
		}
		s.Give(part)
		s.well()
		s.execute("crm", "back_"+strings.Repeat("x", i+1), 1, 5)
		s.well()
		s.forget()
		s.execute("app", "one", 5, 5)
		if b := s.exactly(part.Name + " is given back"); s.sessionsOf(b, "app") == nil || s.sessionsOf(b, "app").Idle != 2 || len(s.home.Lacking) > 0 {
			s.Errorf("%s is given back: %+v, lacking %+v", part.Name, b.Sessions, s.home.Lacking)
		}
	}
}

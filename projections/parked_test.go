package projections_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"

	"muster/eventstore/topic"
	"muster/projections"
)

func TestPoisonParksItsStreamOnly(t *testing.T) {
	t.Parallel()
	for _, poison := range []string{"poison", "panic"} {
		t.Run(poison, func(t *testing.T) {
			t.Parallel()
			s, p := newScene(t), &sums{}
			sick, healthy := uuid.New(), uuid.New()
			s.appendNumbers(sick, "plain", 1)
			s.appendNumbers(healthy, "plain", 10)
			s.appendNumbers(sick, poison, 2)
			s.appendNumbers(healthy, "plain", 20)
			position := s.appendNumbers(sick, "plain", 3)

			r := s.runner(p.projection())
			s.run(r)
			s.settle(r, position)
			// A later page: the stream stays parked, the other goes on.
			s.appendNumbers(sick, "plain", 4)
			s.settle(r, s.appendNumbers(healthy, "plain", 30))

			s.want(map[uuid.UUID]string{sick: "1 ", healthy: "10 20 30 "})
			letters := s.letters(r)
			if len(letters) != 1 || letters[0].Stream != sick || letters[0].Waiting != 2 || letters[0].Position != 3 {
				t.Fatalf("letters are %+v, want one at position 3 with two waiting", letters)
			}
			if st := s.status(r); st.Parked != 3 || st.LagEvents != 0 || st.Status != projections.Running {
				t.Errorf("status is %+v, want 3 parked, no lag, running", st)
			}
		})
	}
}

func (s *scene) letters(r *projections.Runner) []topic.Letter {
	s.t.Helper()
	letters, err := r.DeadLetters().List(s.t.Context(), uuid.Nil, uuid.Nil, 10)
	if err != nil {
		s.t.Fatal(err)
	}
	return letters
}

func TestRetryReplaysInOrder(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), &sums{}
	sick := uuid.New()
	s.appendNumbers(sick, "poison", 1)
	s.appendNumbers(sick, "plain", 2)
	position := s.appendNumbers(sick, "plain", 3)
	r := s.runner(p.projection())
	s.run(r)
	s.settle(r, position)
	dead := r.DeadLetters()

	letter := s.letters(r)[0]
	replay, err := dead.Retry(t.Context(), uuid.Nil, letter.ID)
	if err != nil || replay.Error == "" || replay.Applied != 0 || replay.Waiting != 3 {
		t.Fatalf("retry of what still fails: %+v, %v", replay, err)
	}
	if again := s.letters(r)[0]; again.Attempts != 2 {
		t.Errorf("%d attempts are noted, want 2", again.Attempts)
	}

	p.cured.Store(true)
	replay, err = dead.Retry(t.Context(), uuid.Nil, letter.ID)
	if err != nil || replay.Applied != 3 || replay.Waiting != 0 {
		t.Fatalf("retry after the cure: %+v, %v", replay, err)
	}
	s.settle(r, s.appendNumbers(sick, "plain", 4))
	s.want(map[uuid.UUID]string{sick: "1 2 3 4 "})
	if _, err := dead.Retry(t.Context(), uuid.Nil, letter.ID); !errors.Is(err, topic.ErrNoLetter) {
		t.Errorf("a second retry gives %v, want ErrNoLetter", err)
	}
}

func TestDropIsRememberedByRebuilds(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), &sums{}
	sick := uuid.New()
	s.appendNumbers(sick, "plain", 1)
	s.appendNumbers(sick, "poison", 2)
	position := s.appendNumbers(sick, "plain", 3)
	r := s.runner(p.projection())
	s.run(r)
	s.settle(r, position)

	replay, err := r.DeadLetters().Drop(t.Context(), uuid.Nil, s.letters(r)[0].ID)
	if err != nil || replay.Applied != 1 || replay.Waiting != 0 {
		t.Fatalf("drop: %+v, %v", replay, err)
	}
	s.want(map[uuid.UUID]string{sick: "1 3 "})

	difference, err := r.Rebuild(t.Context(), "sums", projections.RebuildOptions{}, nil)
	if err != nil || !difference.Empty() {
		t.Fatalf("rebuild: %+v, %v", difference, err)
	}
	s.want(map[uuid.UUID]string{sick: "1 3 "})
	if letters := s.letters(r); len(letters) != 0 {
		t.Errorf("letters after the rebuild: %+v", letters)
	}
}

func TestDeadLettersOfOneOrganization(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), &sums{}
	position := s.appendNumbers(uuid.New(), "poison", 1)
	r := s.runner(p.projection())
	s.run(r)
	s.settle(r, position)
	dead, stranger := r.DeadLetters(), uuid.New()
	id := s.letters(r)[0].ID

	if letters, err := dead.List(t.Context(), stranger, uuid.Nil, 10); err != nil || len(letters) != 0 {
		t.Errorf("a stranger lists %v, %v", letters, err)
	}
	if _, _, err := dead.Show(t.Context(), stranger, id); !errors.Is(err, topic.ErrNoLetter) {
		t.Errorf("a stranger is shown it: %v", err)
	}
	if _, err := dead.Retry(t.Context(), stranger, id); !errors.Is(err, topic.ErrNoLetter) {
		t.Errorf("a stranger retries it: %v", err)
	}
	if _, err := dead.Drop(t.Context(), stranger, id); !errors.Is(err, topic.ErrNoLetter) {
		t.Errorf("a stranger drops it: %v", err)
	}
	if l, e, err := dead.Show(t.Context(), s.organization, id); err != nil || e.Type != "poison" || l.Error == "" {
		t.Errorf("its organization is shown %+v %+v %v", l, e, err)
	}
}

package projections_test

import "testing"

// TestAStartSaysThatItReadsAVersion where no process has said so within the hour: a version that nobody reads for a
// day is dropped.
func TestAStartSaysThatItReadsAVersion(t *testing.T) {
	t.Parallel()
	s, p := newScene(t), &sums{}
	r := s.runner(p.projection())
	for age, again := range map[string]bool{"30 minutes": false, "2 hours": true} {
		s.db.MustExec(`UPDATE projection_versions SET used_at = now() - $1::interval`, age)
		if err := r.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		var said bool
		if err := s.db.Get(&said, `SELECT used_at > now() - interval '1 minute' FROM projection_versions`); err != nil || said != again {
			t.Errorf("%s after it was said, a start says so: %t, want %t (%v)", age, said, again, err)
		}
	}
}

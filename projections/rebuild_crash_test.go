package projections_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"

	"muster/projections"
)

// TestARebuildGoesOnAfterACrashAtAnyStep: the connection dies at the step's last write. Readers
// meanwhile see the unchanged live generation, and the rebuild ends as if nothing had happened.
func TestARebuildGoesOnAfterACrashAtAnyStep(t *testing.T) {
	t.Parallel()
	const die = `
CREATE SEQUENCE strikes;
CREATE FUNCTION die() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
    IF nextval('strikes') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
END $$;
CREATE FUNCTION die_of_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM die(); RETURN NULL; END $$;
CREATE FUNCTION die_of_command() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM die(); END $$;
`
	for step, plant := range map[string]string{
		"a page": `CREATE TRIGGER die AFTER UPDATE ON checkpoints FOR EACH ROW
			WHEN (NEW.consumer_group = 'sums_v1_g2' AND NEW.position > OLD.position) EXECUTE FUNCTION die_of_row()`,
		"the comparison": `CREATE TRIGGER die AFTER UPDATE ON projection_generations FOR EACH ROW WHEN (NEW.state = 'compared') EXECUTE FUNCTION die_of_row()`,
		"the views":      `CREATE EVENT TRIGGER die ON ddl_command_end WHEN TAG IN ('CREATE VIEW') EXECUTE FUNCTION die_of_command()`,
		"the switch":     `CREATE TRIGGER die AFTER UPDATE ON projection_generations FOR EACH ROW WHEN (NEW.state = 'live') EXECUTE FUNCTION die_of_row()`,
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			s, p := newScene(t), &sums{}
			one, other := uuid.New(), uuid.New()
			s.appendNumbers(one, "plain", 1, 2)
			position := s.appendNumbers(other, "plain", 3)
			r := s.runner(p.projection())
			s.run(r)
			s.settle(r, position)
			s.exec(die + plant)

			reading, end := context.WithCancel(t.Context())
			var reader sync.WaitGroup
			reader.Go(func() {
				for reading.Err() == nil {
					var total int64
					if err := s.db.Get(&total, `SELECT sum(s.total) + max(t.total) FROM sums_v1.streams s, sums_v1.totals t`); err != nil || total != 12 {
						t.Errorf("a reader sees %d, %v", total, err)
						return
					}
				}
			})
			difference, err := r.Rebuild(t.Context(), "sums", projections.RebuildOptions{StopOnDifference: true}, nil)
			end()
			reader.Wait()
			if err != nil || !difference.Empty() || len(difference.Tables) != 2 {
				t.Errorf("rebuild gives %+v, %v", difference, err)
			}
			var struck bool
			if err := s.db.Get(&struck, `SELECT is_called FROM strikes`); err != nil || !struck {
				t.Errorf("the fault struck: %t, %v", struck, err)
			}
			if live := s.live(); live != "sums_v1_g2" {
				t.Errorf("live is %s", live)
			}
			s.settle(r, s.appendNumbers(one, "plain", 4))
			s.want(map[uuid.UUID]string{one: "1 2 4 ", other: "3 "})
		})
	}
}

package postgresql

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/internal/assessment"
	"muster/internal/assessment/inspection"
	"muster/internal/report/snapshot"
	"muster/internal/testing/pgtest"
)

//go:embed testdata/personal.sql
var personalSQL string

// columns lists what was found as table.column rule confidence.
func columns(c snapshot.Classification) (out []string) {
	for _, table := range c.Tables {
		for _, column := range table.Columns {
			out = append(out, fmt.Sprintf("%s.%s %s %s", table.Name, column.Name, column.RuleID, column.Confidence))
		}
	}
	return out
}

func TestClassify(t *testing.T) {
	t.Parallel()
	dsn := pgtest.EmptyURL(t)
	run(t, dsn, personalSQL)
	database := targetOf(t, dsn).Database
	c, target := collectorAt(t, today), targetOf(t, pgtest.Shared(t).URL("sampler", "postgres"))
	t.Cleanup(func() { run(t, dsn, "DROP OWNED BY sampler;\nDROP ROLE sampler;\n") })
	ctx := context.Background()

	t.Run("by names", func(t *testing.T) {
		t.Parallel()
		got := c.Classify(ctx, target, database, assessment.ClassifyNames)
		want := []string{
			"closed.email PII-09 Medium", "empty.email PII-09 Medium", "fresh.email PII-09 Medium", "halved.email PII-09 Medium",
			"parted.email PII-09 Medium", "people.email PII-09 Medium", "people.password_hash PII-01 High", "secured.email PII-09 Medium",
		}
		if diff := cmp.Diff(want, columns(got)); diff != "" {
			t.Error(diff)
		}
		if got.Status != snapshot.ClassificationCompleted || got.TablesSeen != 10 || got.TablesClassified != 10 ||
			got.TablesSampled != 0 || got.ColumnsClassified != got.ColumnsSeen || got.SampleRows != 0 {
			t.Errorf("%+v", got)
		}
		people := got.Tables[5]
		if !people.PublicAccess || people.Grantees != 1 || people.EstimatedRows != 300 || people.SizeBytes == 0 || people.RowSecurity {
			t.Errorf("%+v", people)
		}
		if parted := got.Tables[4]; parted.EstimatedRows != 35 || !parted.RowsKnown || parted.SizeBytes == 0 {
			t.Errorf("a partitioned table is its partitions, of every level: %+v", parted)
		}
		for name, want := range map[string]bool{"empty": true, "fresh": false, "halved": false} {
			i := slices.IndexFunc(got.Tables, func(t snapshot.ClassifiedTable) bool { return t.Name == name })
			if rows, known := got.Tables[i].Rows(); known != want || rows != 0 {
				t.Errorf("%s: %d rows, known %t, want %t", name, rows, known, want)
			}
		}
	})
	t.Run("by values", func(t *testing.T) {
		t.Parallel()
		got := c.Classify(ctx, target, database, assessment.ClassifyValues)
		want := []string{
			`Odd "name".the column PII-04 Certain`, "closed.email PII-09 Medium", "empty.email PII-09 Medium",
			"fresh.email PII-09 Certain", "halved.email PII-09 Certain", "parted.email PII-09 Certain", "people.email PII-09 Certain", "people.home PII-16 Medium",
			"people.password_hash PII-01 Certain", "secured.email PII-09 Medium",
		}
		if diff := cmp.Diff(want, columns(got)); diff != "" {
			t.Error(diff)
		}
		failed := map[string]string{}
		for _, f := range got.FailedTables {
			failed[f.Name] = f.Reason
		}
		if len(failed) != 2 || !strings.Contains(failed["closed"], "SELECT") || !strings.Contains(failed["secured"], "Row security") {
			t.Errorf("%v", failed)
		}
		if got.Status != snapshot.ClassificationPartial || got.Reason == "" || got.TablesSampled != 8 || got.TablesClassified != 8 || got.SampleRows != inspection.SampleRows {
			t.Errorf("%+v", got)
		}
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range []string{"planted", "example.org", "192.0.2.1", "DE89", "$2b$"} {
			if strings.Contains(string(text), value) {
				t.Errorf("the result holds a value: %q", value)
			}
		}
	})
	t.Run("off", func(t *testing.T) {
		t.Parallel()
		got := c.Classify(ctx, target, database, assessment.ClassifyOff)
		if got.Status != snapshot.ClassificationOff || got.Reason == "" || len(got.Tables) > 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("a database that is not there", func(t *testing.T) {
		t.Parallel()
		got := c.Classify(ctx, target, "nowhere", assessment.ClassifyNames)
		if got.Status != snapshot.ClassificationFailed || got.Reason == "" {
			t.Errorf("%+v", got)
		}
	})
}

// A block sample of a large table must not come out empty, and must not be the
// first rows alone.
func TestALargeTableIsSampledFromAllOver(t *testing.T) {
	t.Parallel()
	dsn := pgtest.URL(t)
	run(t, dsn, "CREATE TABLE large (email text);\nINSERT INTO large SELECT CASE WHEN g < 5000 THEN 'nothing' ELSE g || '@example.org' END FROM generate_series(1, 100000) g;\nANALYZE large;\n")
	target := targetOf(t, dsn)
	got := collectorAt(t, today).Classify(context.Background(), target, target.Database, assessment.ClassifyValues)
	for _, table := range got.Tables {
		if table.Name == "large" && *table.Columns[0].MatchedRatio > 0 {
			return
		}
	}
	t.Errorf("%+v, %+v", columns(got), got.FailedTables)
}

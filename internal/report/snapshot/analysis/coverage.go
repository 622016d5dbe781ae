package analysis

import "muster/internal/report/snapshot"

// Classified is how much of what is in scope was classified.
type Classified struct {
	Databases       int // in scope
	Completed       int
	Partial         int
	Failed          int
	Off             int
	Never           int
	TablesSeen      int // in databases with a completed or partial run, but for Muster's own
	TablesDone      int
	ColumnsSeen     int
	ColumnsDone     int
	SensitiveTables int
	// SensitiveDatabases have a table with sensitive columns.
	SensitiveDatabases int
	OwnTables          int // with sensitive columns, of Muster's own database: not among those
}

// Tables is the share of the tables seen that were classified; ok is false
// where none was seen.
func (c Classified) Tables() (share float64, ok bool) { return ratio(c.TablesDone, c.TablesSeen) }

// Columns is the share of the columns seen that were classified.
func (c Classified) Columns() (share float64, ok bool) { return ratio(c.ColumnsDone, c.ColumnsSeen) }

func ratio(part, whole int) (float64, bool) {
	if whole <= 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}

// ClassificationCoverage counts over all databases in scope. Databases without
// a run have an unknown number of tables: they are in Never, Failed or Off and
// in no percentage.
func ClassificationCoverage(doc snapshot.Document) Classified {
	var c Classified
	for _, in := range doc.Instances {
		for _, db := range in.Databases {
			c.Databases++
			run := db.Classification
			if run == nil {
				c.Never++
				continue
			}
			switch run.Status {
			case snapshot.ClassificationCompleted:
				if run.Failure != nil { // what is known of it is of before
					c.Partial++
				} else {
					c.Completed++
				}
			case snapshot.ClassificationPartial:
				c.Partial++
			case snapshot.ClassificationOff:
				c.Off++
				continue
			default:
				c.Failed++
				continue
			}
			if run.Own { // whose tables count in no other figure
				c.OwnTables += len(run.Tables)
				continue
			}
			c.TablesSeen += run.TablesSeen
			c.TablesDone += run.TablesClassified
			c.ColumnsSeen += run.ColumnsSeen
			c.ColumnsDone += run.ColumnsClassified
			c.SensitiveTables += len(run.Tables)
			c.SensitiveDatabases += min(len(run.Tables), 1)
		}
	}
	return c
}

// Assessed is how many of the instances in scope were assessed.
type Assessed struct {
	Total       int
	Assessed    int // reached and checked, wholly or in part
	Partial     int // of those, with something that could not be checked
	Unreachable int
	Inactive    int // counted, not assessed
	Never       int // active, but without an assessment
	Unchecked   int // reached, of an engine without a check
	Checks      int // different checks with an answer
	Answers     int // (instance, database, check) with an answer
	Gaps        int // (instance, database, check) not assessed
}

// AssessmentCoverage counts over all instances in scope. An inactive instance
// is counted and not assessed, whatever an earlier assessment says.
func AssessmentCoverage(doc snapshot.Document) Assessed {
	var c Assessed
	checks := map[string]bool{}
	for i := range doc.Instances {
		in := &doc.Instances[i]
		c.Total++
		switch {
		case !in.Active:
			c.Inactive++
			continue
		case in.Assessment == nil:
			c.Never++
			continue
		case in.Assessment.Outcome == snapshot.OutcomeUnreachable:
			c.Unreachable++
			continue
		case WhyNotChecked(in) != "":
			c.Unchecked++
			continue
		}
		c.Assessed++
		for _, r := range Results(doc, in) {
			switch r.Status {
			case snapshot.StatusNotAssessed:
				c.Gaps++
			case snapshot.StatusNotApplicable:
			default:
				c.Answers++
				checks[r.CheckID] = true
			}
		}
		if Outcome(doc, in) == snapshot.OutcomePartial {
			c.Partial++
		}
	}
	c.Checks = len(checks)
	return c
}

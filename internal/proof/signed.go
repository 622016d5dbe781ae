package proof

import (
	"context"
	_ "embed"
	"fmt"
	"iter"
	"strings"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/postgres/statement"
	"muster/internal/proof/checkpoint"
)

var (
	//go:embed sql/signed.sql
	selectSigned string
	//go:embed sql/before.sql
	selectBefore string
)

// signedAtOnce is how many proofs are read at once.
const signedAtOnce = 5000

// Signed are the checkpoints in all stored proofs, of every organization: the log of reports
// has to begin with them (checkpoint.Maker.Proofs).
func Signed(db *sqlx.DB) func(context.Context, eventstore.Log) iter.Seq2[checkpoint.Known, error] {
	type row struct {
		Report     uuid.UUID `db:"report_id"`
		Checkpoint []byte    `db:"checkpoint"`
	}
	return func(ctx context.Context, log eventstore.Log) iter.Seq2[checkpoint.Known, error] {
		return func(yield func(checkpoint.Known, error) bool) {
			if log != eventstore.Reports {
				return
			}
			for after := uuid.Nil; ; {
				page, err := statement.All[row](ctx, db, "read the checkpoints in proofs", selectSigned, after, signedAtOnce)
				if err != nil {
					yield(checkpoint.Known{}, err)
					return
				}
				for _, r := range page {
					if !yield(checkpoint.Known{What: fmt.Sprintf("the kept proof of report %s", r.Report), Note: noteIn(r.Checkpoint)}, nil) {
						return
					}
					after = r.Report
				}
				if len(page) < signedAtOnce {
					return
				}
			}
		}
	}
}

// noteIn is the signed text of a checkpoint as JSON has it. It is cut off somewhere behind,
// so it is no JSON; nothing in the text but the ends of its lines is escaped.
func noteIn(document []byte) string {
	_, note, _ := strings.Cut(string(document), `"checkpoint":"`)
	text, _, ok := strings.Cut(note, `\n\n`)
	if !ok {
		return ""
	}
	return strings.ReplaceAll(text, `\n`, "\n") + "\n\n"
}

package pdf_test

import (
	"bytes"
	"strings"
	"testing"

	"muster/domain/report"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/snapshottest"
	"muster/internal/testing/longtest"
)

// foreignNames are names of 63 bytes, as long as PostgreSQL keeps them: Chinese,
// Japanese, Korean, Russian, Greek.
var foreignNames = []string{
	"上海订单数据库主服务器第一机房备用节点甲乙", "東京受注データベース本番サーバー予備ノード", "서울주문데이터베이스주서버첫번째전산실예비",
	"сервер_заказов_московский_центр_о9", "διακομιστής_παραγγελιών_αθηνών99999",
}

// foreign is the rich document with such names in every place where another person chooses one.
func foreign(kind report.Kind) snapshot.Document {
	doc := snapshottest.Rich(kind)
	n := 0
	next := func() string {
		n++
		return foreignNames[n%len(foreignNames)]
	}
	doc.Organization.Name, doc.Requester.Name, doc.ScopeLabel = "南方能源集团", "김민준", "全部服务器"
	for i := range doc.Instances {
		in := &doc.Instances[i]
		in.Name = next()
		for k := range in.Databases {
			in.Databases[k].Name = next()
			if c := in.Databases[k].Classification; c != nil {
				for t := range c.Tables {
					c.Tables[t].Schema, c.Tables[t].Name = "人事", next()
				}
			}
		}
		if in.Assessment != nil {
			for k := range in.Assessment.Results {
				for v := range in.Assessment.Results[k].Violations {
					in.Assessment.Results[k].Violations[v].Object = next()
				}
			}
			for k := range in.Assessment.Roles {
				in.Assessment.Roles[k].Name = next()
			}
		}
	}
	if doc.Alerts != nil {
		for i := range doc.Alerts.Listed {
			doc.Alerts.Listed[i].Title, doc.Alerts.Listed[i].Database = next(), next()
		}
	}
	return doc
}

// Names in other scripts can be read and copied out of a document, stand in the title, and
// make it a few kilobytes larger.
func TestNamesInOtherScripts(t *testing.T) {
	t.Parallel()
	namesInOtherScripts(t, report.InstanceScorecard)
}

// TestLongNamesInOtherScripts looks at all three kinds, and at the outline, which names the
// servers of a Security report.
func TestLongNamesInOtherScripts(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			namesInOtherScripts(t, kind)
		})
	}
}

func namesInOtherScripts(t *testing.T, kind report.Kind) {
	t.Helper()
	doc := foreign(kind)
	file, _ := render(t, renderer(t), doc)
	all := strings.ReplaceAll(strings.Join(words(t, file), ""), " ", "")
	if _, shown, numbered := strings.Cut(all, "‹U+"); numbered {
		t.Errorf("something is shown by its number: %.300s", shown)
	}
	wanted := []string{"南方能源集团", "김민준"}
	for _, in := range doc.Instances {
		wanted = append(wanted, in.Name)
	}
	for _, name := range wanted {
		if !strings.Contains(all, name) {
			t.Errorf("no %s", name)
		}
	}
	if !bytes.Contains(file, utf16("南方能源集团")) || !bytes.Contains(file, []byte("南方能源集团</rdf:li>")) {
		t.Error("the title does not name the organization")
	}
	if kind == report.Security && !bytes.Contains(file, utf16(doc.Instances[0].Name)) {
		t.Error("the outline does not name the instance")
	}
	if len(file) > 300_000 { // of which the structure for screen readers has 80,000 to 130,000
		t.Errorf("%d bytes; with names in ASCII some 100,000 less", len(file))
	}
}

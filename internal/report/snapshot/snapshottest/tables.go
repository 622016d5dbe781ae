package snapshottest

import (
	"fmt"
	"time"

	"muster/internal/report/snapshot"
)

func databases(i int) []snapshot.Database {
	size := int64(1<<30) * int64(i+1)
	crm := snapshot.Database{ID: ID(1000 + i*10), Name: "crm", SizeBytes: &size}
	orders := snapshot.Database{ID: ID(1001 + i*10), Name: "orders", SizeBytes: &size}
	started := AsOf().Add(-3 * time.Hour)
	run := snapshot.Classification{
		StartedAt: started, FinishedAt: started.Add(40 * time.Second), Status: snapshot.ClassificationCompleted, Mode: "names",
		RulesVersion: "2026.11", TablesSeen: 40 + i, TablesClassified: 40 + i, ColumnsSeen: 610, ColumnsClassified: 610,
	}
	switch i % 4 {
	case 0, 1:
		run.Tables = tables(i)
		crm.Classification = &run
	case 2:
		run.Status, run.Reason = snapshot.ClassificationPartial, "3 tables could not be read"
		run.TablesClassified, run.ColumnsClassified = 37+i, 560
		run.FailedTables = []snapshot.FailedTable{{Schema: "hr", Name: "payroll_2024", Reason: "permission denied for schema hr"}}
		run.Tables = tables(i)[:1]
		crm.Classification = &run
	default:
		run.Status, run.Reason = snapshot.ClassificationFailed, "no connection to database crm"
		run.TablesSeen, run.TablesClassified, run.ColumnsSeen, run.ColumnsClassified = 0, 0, 0, 0
		crm.Classification = &run
	}
	if i%2 == 0 {
		off := snapshot.Classification{Status: snapshot.ClassificationOff, Reason: "classification is switched off for this instance", StartedAt: started, FinishedAt: started, Mode: "names"}
		orders.Classification = &off
	}
	return []snapshot.Database{crm, orders}
}

func tables(i int) []snapshot.ClassifiedTable {
	ratio := 0.97
	patients := int64(9_100)
	if i == 4 {
		patients = 0 // never analysed
	}
	return []snapshot.ClassifiedTable{
		{Schema: "public", Name: "customers", EstimatedRows: 1_250_000, SizeBytes: 1 << 30, PublicAccess: i%2 == 0, Grantees: 4, Columns: []snapshot.ClassifiedColumn{
			{Name: "email", DataType: "text", Category: "Contact", InfoType: "E-mail", Regulation: "GDPR", Confidence: "Certain", MatchedRatio: &ratio, RuleID: "contact-email", Weight: 5},
			{Name: "date_of_birth", DataType: "date", Category: "Person", InfoType: "Date of birth", Regulation: "GDPR", Confidence: "High", RuleID: "person-dob", Weight: 6},
			{Name: "password_hash", DataType: "text", Category: "Credentials", InfoType: "Password / secret", Regulation: "internal", Confidence: "High", RuleID: "cred-password", Weight: 10},
		}},
		{Schema: "public", Name: "invoices", EstimatedRows: 84_000, SizeBytes: 1 << 26, Grantees: 2, RowSecurity: true, Columns: []snapshot.ClassifiedColumn{
			{Name: "iban", DataType: "text", Category: "Financial", InfoType: "IBAN", Regulation: "GDPR", Confidence: "Medium", RuleID: "fin-iban", Weight: 8},
		}},
		{Schema: "hr", Name: fmt.Sprintf("patient_record_%d", i), EstimatedRows: patients, SizeBytes: 1 << 22, Grantees: 1, Columns: []snapshot.ClassifiedColumn{
			{Name: "diagnosis", DataType: "text", Category: "Special category", InfoType: "Health", Regulation: "GDPR art.9; HIPAA", Confidence: "Low", RuleID: "special-health", Weight: 10},
		}},
	}
}

// addReaders says of the tables of two servers who can read them.
func addReaders(instances []snapshot.Instance) {
	for _, i := range []int{0, 4} {
		for _, db := range instances[i].Databases {
			if db.Classification == nil {
				continue
			}
			for j := range db.Classification.Tables {
				t := &db.Classification.Tables[j]
				t.ReaderPaths = []snapshot.Reader{
					{Role: "app_orders", Login: true, Path: "app_orders → SELECT"},
					{Role: "postgres", Login: true, Path: "postgres → superuser", PastPolicies: true},
					{Role: "reporting", Login: true, Path: "reporting → analysts → SELECT"},
					{Role: "etl_nightly", Login: true, Path: "etl_nightly → pg_read_all_data → every table"},
					{Role: "support", Login: true, Path: "support → SET ROLE support_lead → SELECT on columns", Columns: []string{"email", "iban"}},
					{Role: "analysts", Path: "analysts → SELECT"},
					{Role: "orders_owner", Path: "orders_owner → SELECT as owner", PastPolicies: true},
				}
				if t.PublicAccess {
					t.ReaderPaths = append(t.ReaderPaths, snapshot.Reader{Role: snapshot.Public, Path: "PUBLIC → SELECT"})
				}
				t.ReadersUnlisted = 3 * j
			}
		}
	}
}

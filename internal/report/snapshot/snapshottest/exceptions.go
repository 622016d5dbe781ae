package snapshottest

import (
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/report/snapshot"
)

// exceptions returns those that concern a document's instances: a whole check
// on a server, one object of a check that names several, one object everywhere
// that lapses soon, a check everywhere, and two that cover the same finding.
func exceptions(doc snapshot.Document) []snapshot.Exception {
	at := func(n int) *uuid.UUID { id := ID(n); return &id }
	ana, jonas, erased := snapshot.Person{ID: ID(3), Name: "Ana Ruiz"}, snapshot.Person{ID: ID(4), Name: "Jonas Weber"}, snapshot.Person{ID: ID(5)}
	all := []snapshot.Exception{
		{CheckID: "PG-S04", InstanceID: at(101), Reason: "Replaced in the January release.", Until: days(72), RequestedBy: ana, GrantedBy: jonas},
		{CheckID: "PG-S12", Object: "etl_nightly", Reason: "A service account; its password is rotated by the vault every night.", Until: days(20), RequestedBy: ana, GrantedBy: jonas},
		{CheckID: "PG-S18", InstanceID: at(104), Database: &snapshot.DatabaseRef{ID: ID(1040), Name: "crm"}, Object: "public.customer_02",
			Reason: "The partner portal reads this table as PUBLIC. " + strings.Repeat("It moves to a role of its own with the second phase of the portal, see the plan of the platform team. ", 5),
			Until:  days(180), RequestedBy: erased, GrantedBy: jonas},
		{CheckID: "PG-F03", Reason: "The storage keeps checksums of its own.", Until: days(300), RequestedBy: jonas, GrantedBy: ana},
		{CheckID: "PG-S25", InstanceID: at(100), Reason: "The pooler in front logs every connection.", Until: days(9), RequestedBy: ana, GrantedBy: jonas},
		{CheckID: "PG-S25", Reason: "Until the new log server is there.", Until: days(40), RequestedBy: ana, GrantedBy: jonas},
		{CheckID: "PG-C02", InstanceID: at(100), Object: "public.customer_02", Reason: "A staging table.", Until: days(90), RequestedBy: ana, GrantedBy: erased},
	}
	for i := range all {
		all[i].ID, all[i].GrantedAt = ID(5000+i), AsOf().AddDate(0, 0, -30+i)
	}
	return slices.DeleteFunc(all, func(x snapshot.Exception) bool {
		return x.InstanceID != nil && !slices.ContainsFunc(doc.Instances, func(in snapshot.Instance) bool { return in.ID == *x.InstanceID })
	})
}

// day is so many days after the snapshot.
func days(n int) time.Time { return AsOf().AddDate(0, 0, n) }

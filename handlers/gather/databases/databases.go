package databases

import (
	"slices"

	"muster/internal/assessment"
	"muster/internal/report/snapshot"
)

// Join joins the facts of the assessment and the classification to the databases by
// name. A database that they have seen and the fleet does not have yet is added.
func Join(instance *snapshot.Instance, classified []assessment.DatabaseClassification) {
	database := func(name string) *snapshot.Database {
		i := slices.IndexFunc(instance.Databases, func(d snapshot.Database) bool { return d.Name == name })
		if i < 0 {
			instance.Databases = append(instance.Databases, snapshot.Database{Name: name})
			i = len(instance.Databases) - 1
		}
		return &instance.Databases[i]
	}
	if instance.Assessment != nil {
		for _, fact := range instance.Assessment.Databases {
			if !instance.Assessment.Sent || Listed(instance, fact.Name) {
				db := database(fact.Name)
				db.SizeBytes, db.Encrypted = fact.SizeBytes, fact.EncryptedAtRest
			}
		}
	}
	for _, c := range classified {
		run := c.Classification
		database(c.Database).Classification = &run
	}
}

// Listed says whether the fleet lists a database of an instance.
func Listed(instance *snapshot.Instance, name string) bool {
	return slices.ContainsFunc(instance.Databases, func(d snapshot.Database) bool { return d.Name == name })
}

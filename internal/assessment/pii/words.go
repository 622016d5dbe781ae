package pii

import (
	"cmp"
	"slices"

	"muster/internal/report/snapshot"
)

// words are what feeds call what a column holds, by the rule that says the same.
func words() map[string]string {
	return map[string]string{
		"password": "PII-01", "paymentCard": "PII-02", "cardVerification": "PII-03", "iban": "PII-04", "bankAccount": "PII-05",
		"usSocialSecurity": "PII-06", "nationalId": "PII-07", "passport": "PII-08", "email": "PII-09", "phone": "PII-10",
		"postalAddress": "PII-11", "name": "PII-12", "dateOfBirth": "PII-13", "health": "PII-14", "specialCategory": "PII-15",
		"ipAddress": "PII-16", "deviceId": "PII-17", "geoCoordinates": "PII-18", "salary": "PII-19", "vehicle": "PII-20",
	}
}

// Called is a column of that name by a feed's word for what it holds: one of Words. A
// whole category is as grave as the gravest of it.
func (r *Rules) Called(word, column, confidence string) (c snapshot.ClassifiedColumn, ok bool) {
	var of []rule
	id, known := words()[word]
	for _, one := range r.rules {
		if known && one.id == id || !known && one.category == word {
			of = append(of, one)
		}
	}
	if len(of) == 0 {
		return c, false
	}
	gravest := slices.MaxFunc(of, func(a, b rule) int { return cmp.Compare(a.weight, b.weight) })
	c = snapshot.ClassifiedColumn{
		Name: column, Category: gravest.category, InfoType: gravest.infoType, Regulation: gravest.regulation, Confidence: confidence,
		RuleID: gravest.id, Weight: gravest.weight,
	}
	if !known {
		c.InfoType, c.RuleID = gravest.category, ""
	}
	return c, true
}

// Word is a feed's word for what a column holds: Called makes the same of it.
func Word(c snapshot.ClassifiedColumn) string {
	for word, id := range words() {
		if id == c.RuleID {
			return word
		}
	}
	return c.Category
}

// Words are what Called knows: the kinds of data by rule, then their categories.
func (r *Rules) Words() []string {
	var kinds, categories []string
	for word, id := range words() {
		kinds = append(kinds, id+word)
	}
	slices.Sort(kinds)
	for i := range kinds {
		kinds[i] = kinds[i][len("PII-00"):]
	}
	for _, one := range r.rules {
		if !slices.Contains(categories, one.category) {
			categories = append(categories, one.category)
		}
	}
	return append(kinds, categories...)
}

// Confident is the word for how sure a feed is, from 0 to 1.
func Confident(share float64) string {
	switch {
	case share >= 0.95:
		return "Certain"
	case share >= 0.8:
		return "High"
	case share >= 0.5:
		return "Medium"
	default:
		return "Low"
	}
}

// Share is a share that Confident calls so.
func Share(confidence string) float64 {
	switch confidence {
	case "Certain":
		return 0.95
	case "High":
		return 0.8
	case "Medium":
		return 0.5
	default:
		return 0.2
	}
}

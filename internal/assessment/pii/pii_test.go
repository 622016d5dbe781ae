package pii

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)

func rulesOf(t *testing.T) *Rules {
	t.Helper()
	r, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNamesMatchByWholeWords(t *testing.T) {
	t.Parallel()
	r := rulesOf(t)
	for _, test := range []struct {
		name string
		kind Type
		want string // rule and confidence
	}{
		{"email", Text, "PII-09 Medium"},
		{"eMail", Text, "PII-09 Medium"},
		{"Email_Address", Text, "PII-09 Medium"},
		{"contactEmails2", Text, "PII-09 Medium"},
		{"email_verified", Text, ""},
		{"email", Integer, ""}, // an e-mail address is text
		{"pan", Text, "PII-02 Medium"},
		{"company", Text, ""}, // not a substring
		{"pancake", Text, ""},
		{"panel", Text, ""},
		{"ip_address", Text, "PII-16 Medium"}, // and no postal address
		{"clientIP", Inet, "PII-16 Medium"},
		{"ship_to", Text, ""},
		{"zip", Text, "PII-11 Medium"},
		{"password_hash", Text, "PII-01 High"},
		{"password_changed_at", Text, ""},
		{"passwd", Bytes, "PII-01 High"},
		{"date_of_birth", Date, "PII-13 High"},
		{"dob", Integer, ""},
		{"lastName", Text, "PII-12 Medium"},
		{"file_name", Text, ""},
		{"iban", Text, "PII-04 Medium"},
		{"cvv2", Text, "PII-03 High"},
		{"salary", Numeric, "PII-19 High"},
		{"salary", Integer, "PII-19 High"}, // whole numbers are numbers
		{"tracing", Text, ""},
		{"race", Text, "PII-15 High"},
		{"race_condition", Text, ""},
		{"fingerprint", Text, ""}, // of a key or a request, nearly always
		{"fingerprint_template", Bytes, "PII-15 High"},
		{"mrn", Other, "PII-14 High"},
		{"ssn", Text, "PII-06 High"},
		{"", Text, ""},
		{"___", Text, ""},
		{"電話_phone", Text, "PII-10 Medium"},
	} {
		got := ""
		if m, ok := r.Classify(Candidate{Name: test.name, Type: test.kind}, now); ok {
			got = m.RuleID + " " + m.Confidence
			if m.MatchedRatio != nil {
				t.Errorf("%s: a ratio without values", test.name)
			}
		}
		if got != test.want {
			t.Errorf("%q as %s is %q, want %q", test.name, test.kind, got, test.want)
		}
	}
}

func TestValuesDecideHowSureAMatchIs(t *testing.T) {
	t.Parallel()
	r := rulesOf(t)
	many := func(form string) (out []string) {
		for i := range 30 {
			out = append(out, fmt.Sprintf(form, i))
		}
		return out
	}
	emails := many("person%d@example.org")
	for _, test := range []struct {
		what, name string
		kind       Type
		values     []string
		want       string
	}{
		{"both", "email", Text, emails, "PII-09 Certain 1.00"},
		{"values alone", "c7", Text, emails, "PII-09 High 1.00"},
		{"name alone, no rows", "email", Text, []string{}, "PII-09 Medium"},
		{"values that never fit", "email", Text, many("no %d"), "PII-09 Low 0.00"},
		{"few of them", "email", Text, []string{"no"}, "PII-09 Medium 0.00"},
		{"some fit", "email", Text, append(many("no %d"), emails...), "PII-09 Medium 0.50"},
		{"values alone, too few fit", "c7", Text, append(many("no %d"), emails...), ""},
		{"values prove nothing for names", "c7", Text, many("Smith%d"), ""},
		{"cards", "c7", Text, []string{"4111 1111 1111 1111", "5500-0000-0000-0004", "340000000000009"}, "PII-02 High 1.00"},
		{"nine digits are no SSN", "c7", Text, []string{"123456789", "234567891"}, "PII-10 Low 1.00"}, // a telephone, perhaps
		{"with dashes they are", "c7", Text, []string{"123-45-6789", "234-56-7891"}, "PII-06 Medium 1.00"},
		{"and with the name", "ssn", Text, []string{"123456789", "234567891"}, "PII-06 Certain 1.00"},
		{"hashes", "c7", Text, many("$2b$12$abcdefghijklmnopqrstu%d"), "PII-01 Low 1.00"},
		{"random text is no secret", "c7", Text, many("q8ZkP2xW9vLr4TnY%d"), ""},
		{"unless it is called one", "api_key", Text, many("q8ZkP2xW9vLr4TnY%d"), "PII-01 Certain 1.00"},
		{"birthdays", "birthday", Date, []string{"1950-02-01", "1980-03-02", "2001-01-01"}, "PII-13 Certain 1.00"},
		{"one quarter's dates", "birthday", Date, []string{"2025-02-01", "2025-03-02"}, "PII-13 High 0.00"},
		{"IBANs", "c7", Text, []string{"DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"}, "PII-04 Certain 1.00"},
		{"addresses", "c7", Inet, []string{"10.0.0.1", "2001:db8::/32"}, "PII-16 Medium 1.00"},
	} {
		got := ""
		if m, ok := r.Classify(Candidate{Name: test.name, Type: test.kind, Values: test.values}, now); ok {
			got = m.RuleID + " " + m.Confidence
			if m.MatchedRatio != nil {
				got += fmt.Sprintf(" %.2f", *m.MatchedRatio)
			}
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
}

// Each validator with published examples that fit, and neighbours that do not.
func TestValidators(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ fit, misfit []string }{
		"payment_card":      {[]string{"4012888888881881", "378282246310005", "6011111111111117"}, []string{"4012888888881882", "0000000000000000", "1234", "4111a11111111111"}},
		"card_verification": {[]string{"123", "1234"}, []string{"12", "12a", "12345"}},
		"iban":              {[]string{"FR1420041010050500013M02606", "NL91ABNA0417164300"}, []string{"FR1420041010050500013M02607", "XX91ABNA0417164300", "DE89", "NL91ABNA041716430!"}},
		"bank_account":      {[]string{"011000015", "DEUTDEFF", "DEUTDEFF500"}, []string{"011000016", "deutdeff", "000000000"}},
		"national_id":       {[]string{"44051401359", "111222333", "9434765919", "11144477735", "8112289874", "11222333000181", "499118665246"}, []string{"44051401358", "111222334", "11111111111", "499118665247", "x"}},
		"identity_document": {[]string{"C01X00T47", "P 1234567"}, []string{"PASSPORT", "abc", ""}},
		"email":             {[]string{"a.b+c@mail.example.co.uk"}, []string{"a@b", "a@@b.org", "a b@c.org", "@c.org", strings.Repeat("a", 250) + "@c.org"}},
		"telephone":         {[]string{"+49 30 901820", "(555) 010-9999"}, []string{"12345", "1111111111", "2024-01-31", "phone"}},
		"postcode":          {[]string{"90210", "SW1A 1AA", "Main Street 5, 10115 Berlin", "1012 AB"}, []string{"Main Street", ""}},
		"icd10":             {[]string{"E11.9", "J45", "S72.001A"}, []string{"E1", "11.9", "U0"}},
		"ip_address":        {[]string{"192.0.2.1", "::1"}, []string{"192.0.2.256", "1.2.3"}},
		"device":            {[]string{"00:1B:44:11:3A:B7", "490154203237518"}, []string{"490154203237519", "00:1B:44"}},
		"coordinate":        {[]string{"-89.5", "180"}, []string{"181", "north"}},
		"vehicle":           {[]string{"1M8GDM9AXKP042788", "11111111111111111"}, []string{"1M8GDM9A1KP042788", "1M8GDM9AXKP04278", "IM8GDM9AXKP042788"}},
		"secret":            {[]string{"$2b$12$x", "$argon2id$v=19", "{SSHA}x", "SCRAM-SHA-256$4096:x"}, []string{"hello", "md5"}},
		"us_ssn":            {[]string{"078-05-1120"}, []string{"000-05-1120", "666-05-1120", "900-05-1120", "078-00-1120", "078-05-0000", "078051120", "078-051120"}},
	} {
		fits := validators()[name]
		for _, v := range test.fit {
			if fits([]string{v}, false, now) != 1 {
				t.Errorf("%s: %q does not fit", name, v)
			}
		}
		for _, v := range test.misfit {
			if fits([]string{v}, false, now) != 0 {
				t.Errorf("%s: %q fits", name, v)
			}
		}
	}
}

func TestLoadNamesEveryFault(t *testing.T) {
	t.Parallel()
	const header = "id,category,info_type,weight,regulation,tokens,excluded,types,validator,min_ratio,by_name,by_both,by_value\n"
	const row = "R1,c,i,5,GDPR,email,,text,email,0.8,Medium,Certain,High\n"
	for name, test := range map[string]struct{ text, want string }{
		"valid":      {row, ""},
		"twice":      {row + row, "R1: defined twice"},
		"weight":     {strings.Replace(row, ",5,", ",11,", 1), "weight"},
		"confidence": {strings.Replace(row, "Medium", "Perhaps", 1), "unknown confidence"},
		"validator":  {strings.Replace(row, "text,email", "text,mail", 1), "unknown validator"},
		"ratio":      {strings.Replace(row, "0.8", "most", 1), "minimum ratio"},
		"tokens":     {strings.Replace(row, "GDPR,email", "GDPR,", 1), "no tokens"},
	} {
		if _, err := load([]byte(header + test.text)); test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

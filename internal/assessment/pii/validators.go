package pii

import (
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// validator returns the share of values that fit; named says whether the
// column's name matched, for which some accept more.
type validator func(values []string, named bool, at time.Time) float64

func validators() map[string]validator {
	return map[string]validator{
		"secret": func(v []string, named bool, _ time.Time) float64 {
			return share(v, func(s string) bool { return secret(s, named) })
		},
		"payment_card":      each(paymentCard),
		"card_verification": each(regexp.MustCompile(`^[0-9]{3,4}$`).MatchString),
		"iban":              each(iban),
		"bank_account":      each(bankAccount),
		"us_ssn": func(v []string, named bool, _ time.Time) float64 {
			return share(v, func(s string) bool { return ssn(s, named) })
		},
		"national_id":       each(nationalID),
		"identity_document": each(identityDocument),
		"email":             each(email),
		"telephone":         each(telephone),
		"postcode":          each(postcode),
		"birth_date":        birthDates,
		"icd10":             each(regexp.MustCompile(`^[A-TV-Z][0-9][0-9AB](\.?[0-9A-TV-Z]{1,4})?$`).MatchString),
		"small_set":         smallSet,
		"ip_address":        each(ipAddress),
		"device":            each(device),
		"coordinate":        each(coordinate),
		"vehicle":           each(vin),
	}
}

func each(fits func(string) bool) validator {
	return func(values []string, _ bool, _ time.Time) float64 { return share(values, fits) }
}

func share(values []string, fits func(string) bool) float64 {
	n := 0
	for _, v := range values {
		if fits(strings.TrimSpace(v)) {
			n++
		}
	}
	return float64(n) / float64(len(values))
}

var hashPrefix = regexp.MustCompile(`^(\$2[abxy]?\$|\$argon2|\$pbkdf2|\$scrypt|\$[156y]\$|\$P\$|pbkdf2_|bcrypt|argon2|SCRAM-SHA-|\{S?SHA|md5[0-9a-f]{32}$)`)

// secret knows stored hashes by their prefix. Random-looking text counts only
// where the name says secret: ids look random too.
func secret(s string, named bool) bool {
	return hashPrefix.MatchString(s) || named && len(s) >= 16 && !strings.Contains(s, " ") && entropy(s) > 3.5
}

func entropy(s string) float64 {
	counts := make(map[rune]int)
	n := 0
	for _, c := range s {
		counts[c]++
		n++
	}
	bits := 0.0
	for _, c := range counts {
		p := float64(c) / float64(n)
		bits -= p * math.Log2(p)
	}
	return bits
}

// digits strips separators; ok is false where anything else is in the way.
func digits(s string, separators string) (string, bool) {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			out = append(out, c)
		case !strings.ContainsRune(separators, rune(c)):
			return "", false
		}
	}
	return string(out), true
}

var issuer = regexp.MustCompile(`^(4|5[1-5]|2(22[1-9]|2[3-9]|[3-6]|7[01]|720)|3[47]|3(0[0-5]|[68])|6(011|4[4-9]|5)|35(2[89]|[3-8])|62|50|5[6-9]|6[37])`)

func paymentCard(s string) bool {
	d, ok := digits(s, " -")
	return ok && len(d) >= 13 && len(d) <= 19 && issuer.MatchString(d) && luhn(d)
}

func luhn(d string) bool {
	sum := 0
	for i := range len(d) {
		n := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0 && strings.Trim(d, "0") != ""
}

// ibanLengths is the registry's table of whole lengths by country.
const ibanLengths = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 EG29 ES24 FI18 FO18 " +
	"FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 " +
	"ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 SA24 SC31 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20"

func iban(s string) bool {
	s = strings.ToUpper(strings.ReplaceAll(s, " ", ""))
	if len(s) < 15 || !strings.Contains(ibanLengths, s[:2]+strconv.Itoa(len(s))) {
		return false
	}
	remainder := 0
	for _, c := range s[4:] + s[:4] {
		switch {
		case c >= '0' && c <= '9':
			remainder = (remainder*10 + int(c-'0')) % 97
		case c >= 'A' && c <= 'Z':
			remainder = (remainder*100 + int(c-'A') + 10) % 97
		default:
			return false
		}
	}
	return remainder == 1
}

var bic = regexp.MustCompile(`^[A-Z]{6}[A-Z0-9]{2}([A-Z0-9]{3})?$`)

// bankAccount takes an ABA routing number (weights 3, 7, 1) or a BIC.
func bankAccount(s string) bool {
	if d, ok := digits(s, ""); ok && len(d) == 9 {
		return weighted(d, 3, 7, 1, 3, 7, 1, 3, 7, 1)%10 == 0 && strings.Trim(d, "0") != ""
	}
	return bic.MatchString(s)
}

func weighted(d string, weights ...int) int {
	sum := 0
	for i, w := range weights {
		sum += int(d[i]-'0') * w
	}
	return sum
}

var ssnForm = regexp.MustCompile(`^([0-9]{3})(-?)([0-9]{2})(-?)([0-9]{4})$`)

// ssn requires the dashes unless the name says what it is, because any nine digits match
// otherwise.
func ssn(s string, named bool) bool {
	p := ssnForm.FindStringSubmatch(s)
	if p == nil || p[2] != p[4] || p[2] == "" && !named {
		return false
	}
	return p[1] != "000" && p[1] != "666" && p[1][0] != '9' && p[3] != "00" && p[5] != "0000"
}

// nationalID takes a number whose check digit is right for one of the
// countries that have one.
func nationalID(s string) bool {
	d, ok := digits(s, " .-/+")
	if !ok || d == "" || strings.Trim(d, d[:1]) == "" {
		return false
	}
	switch len(d) {
	case 9: // BSN, Netherlands
		return weighted(d, 9, 8, 7, 6, 5, 4, 3, 2, -1)%11 == 0
	case 10: // NHS number, or personnummer
		check := 11 - weighted(d, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11
		return check%11 == int(d[9]-'0') && check != 10 || luhn(d)
	case 11: // PESEL, CPF
		pesel := (10 - weighted(d, 1, 3, 7, 9, 1, 3, 7, 9, 1, 3)%10) % 10
		return pesel == int(d[10]-'0') || cpf(d)
	case 12: // Aadhaar, or personnummer with the century
		return verhoeff(d) || luhn(d[2:])
	case 14:
		return cnpj(d)
	}
	return false
}

func cpf(d string) bool {
	first := weighted(d, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	second := weighted(d, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2) * 10 % 11 % 10
	return first == int(d[9]-'0') && second == int(d[10]-'0')
}

func cnpj(d string) bool {
	check := func(sum int) int {
		if r := sum % 11; r >= 2 {
			return 11 - r
		}
		return 0
	}
	return check(weighted(d, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)) == int(d[12]-'0') &&
		check(weighted(d, 6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)) == int(d[13]-'0')
}

// verhoeff computes in the dihedral group D5, as the scheme is defined.
func verhoeff(d string) bool {
	permute := [8][10]int{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 5, 7, 6, 2, 8, 3, 0, 9, 4}}
	for i := 2; i < 8; i++ {
		for j := range 10 {
			permute[i][j] = permute[i-1][permute[1][j]]
		}
	}
	multiply := func(a, b int) int {
		switch {
		case a < 5 && b < 5:
			return (a + b) % 5
		case a < 5:
			return 5 + (a+b-5)%5
		case b < 5:
			return 5 + (a-5-b+5)%5
		default:
			return (a - b + 5) % 5
		}
	}
	c := 0
	for i := range len(d) {
		c = multiply(c, permute[i%8][d[len(d)-1-i]-'0'])
	}
	return c == 0
}

var documentForm = regexp.MustCompile(`^[A-Z0-9]{6,16}$`)

func identityDocument(s string) bool {
	s = strings.ToUpper(strings.NewReplacer(" ", "", "-", "").Replace(s))
	return documentForm.MatchString(s) && strings.ContainsAny(s, "0123456789")
}

var emailForm = regexp.MustCompile(`^[^@\s"<>(),;:]{1,64}@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+([A-Za-z]{2,}|xn--[A-Za-z0-9-]+)$`)

func email(s string) bool { return len(s) <= 254 && emailForm.MatchString(s) }

var dateForm = regexp.MustCompile(`^(19|20)[0-9]{2}[-./ ]?[01][0-9][-./ ]?[0-3][0-9]$`)

func telephone(s string) bool {
	d, ok := digits(strings.TrimPrefix(s, "+"), " -./()")
	return ok && len(d) >= 7 && len(d) <= 15 && strings.Trim(d, d[:1]) != "" && !dateForm.MatchString(s)
}

var postcodeForm = regexp.MustCompile(`(?i)(^|\b)([0-9]{5}(-[0-9]{4})?|[0-9]{4}( ?[A-Z]{2})?|[0-9]{2}-[0-9]{3}|[0-9]{3} ?[0-9]{2}|[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}|[A-Z][0-9][A-Z] ?[0-9][A-Z][0-9])($|\b)`)

func postcode(s string) bool { return postcodeForm.MatchString(s) }

// birthDates wants past dates that span more than ten years: the dates of one
// quarter's orders are no birthdays.
func birthDates(values []string, _ bool, at time.Time) float64 {
	n, first, last := 0, at.Year(), 0
	for _, v := range values {
		d, ok := parseDate(v)
		if ok && d.Year() >= 1900 && d.Year() < at.Year() {
			n++
			first, last = min(first, d.Year()), max(last, d.Year())
		}
	}
	if last-first <= 10 {
		return 0
	}
	return float64(n) / float64(len(values))
}

func parseDate(text string) (time.Time, bool) {
	text = strings.TrimSpace(text)
	for _, form := range []string{"2006-01-02", "02.01.2006", "01/02/2006", "02/01/2006", "20060102"} {
		if len(text) >= len(form) {
			if d, err := time.Parse(form, text[:len(form)]); err == nil {
				return d, true
			}
		}
	}
	return time.Time{}, false
}

// smallSet: ethnicities and religions are few, whatever they are called.
func smallSet(values []string, named bool, _ time.Time) float64 {
	distinct := slices.Compact(slices.Sorted(slices.Values(values)))
	if named && len(distinct) <= 30 {
		return 1
	}
	return 0
}

func ipAddress(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	_, err := netip.ParsePrefix(s)
	return err == nil
}

var macForm = regexp.MustCompile(`^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$`)

func device(s string) bool {
	d, ok := digits(s, " -")
	return macForm.MatchString(s) || ok && len(d) == 15 && luhn(d)
}

func coordinate(s string) bool {
	v, err := strconv.ParseFloat(s, 64)
	return err == nil && math.Abs(v) <= 180
}

// vin computes the check digit of ISO 3779 as North America uses it.
func vin(s string) bool {
	s = strings.ToUpper(s)
	if len(s) != 17 {
		return false
	}
	weights := []int{8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2}
	sum := 0
	for i := range len(s) {
		value := strings.IndexByte("0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ", s[i])
		if value < 0 || s[i] == '.' {
			return false
		}
		sum += value % 10 * weights[i]
	}
	return s[8] == "0123456789X"[sum%11]
}

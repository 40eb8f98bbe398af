package capability

import (
	"cmp"
	"strings"
)

const (
	maxUnit   = 64
	maxDigits = 78 // 2^256 has 78: what ledgers count in
	unitBytes = "abcdefghijklmnopqrstuvwxyz0123456789.:/_-"
)

// compileAmount gives unit "," decimal.
func compileAmount(text string) (string, *fault) {
	unit, amount, found := strings.Cut(text, ",")
	if !found {
		return "", wrong(len(text), "no comma; write unit,amount as in usd,100.5")
	}
	at := len(unit) + 1
	unit = asciiLower(strings.Trim(unit, " "))
	if unit == "" || len(unit) > maxUnit || strings.Trim(unit, unitBytes) != "" {
		return "", wrong(0, "the unit %s; write 1 to %d of a-z 0-9 . : / _ -", quote(unit), maxUnit)
	}
	amount = strings.Trim(amount, " ")
	whole, fraction, point := strings.Cut(amount, ".")
	if !isDigits(whole) || point && !isDigits(fraction) {
		return "", wrong(at, "the amount %s; write a plain decimal without sign or exponent, as in 100.5", quote(amount))
	}
	whole, fraction = strings.TrimLeft(whole, "0"), strings.TrimRight(fraction, "0")
	if len(whole) > maxDigits || len(fraction) > maxDigits {
		return "", wrong(at, "the amount has more than %d digits on one side of the point", maxDigits)
	}
	if whole == "" {
		whole = "0"
	}
	if fraction != "" {
		fraction = "." + fraction
	}
	return unit + "," + whole + fraction, nil
}

func renderAmount(code string) string { return code }

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func matchAmount(grant, target string) bool {
	unit, most, ok := strings.Cut(grant, ",")
	targetUnit, amount, targetOK := strings.Cut(target, ",")
	return ok && targetOK && unit == targetUnit && compareDecimal(amount, most) <= 0
}

// compareDecimal orders two canonical decimals: without leading zeros a longer
// whole part is the larger, and fractions order as text.
func compareDecimal(a, b string) int {
	aWhole, aFraction, _ := strings.Cut(a, ".")
	bWhole, bFraction, _ := strings.Cut(b, ".")
	return cmp.Or(
		cmp.Compare(len(aWhole), len(bWhole)),
		strings.Compare(aWhole, bWhole),
		strings.Compare(aFraction, bFraction),
	)
}

package record

import "time"

const timeFormat = "2006-01-02T15:04:05.000000000Z"

// Stamp is the text of a time as lines have it.
type Stamp string

// StampOf writes a time down: UTC, nine digits of a second. It is what
// [time.Time.Format] writes, in a fraction of the time; and it is short, so that
// who uses the text at once has it on the stack.
func StampOf(t time.Time) Stamp {
	var text [len(timeFormat)]byte
	return Stamp(appendStamp(text[:0], t))
}

func appendStamp(dst []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(dst, timeFormat)
	}
	hour, minute, second := t.Clock()
	from := len(dst)
	dst = append(dst, timeFormat...)
	text := dst[from:]
	putDigits(text[0:4], year)
	putDigits(text[5:7], int(month))
	putDigits(text[8:10], day)
	putDigits(text[11:13], hour)
	putDigits(text[14:16], minute)
	putDigits(text[17:19], second)
	putDigits(text[20:29], t.Nanosecond())
	return dst
}

// putDigits writes a number down, with zeros before it.
func putDigits(text []byte, n int) {
	for i := len(text) - 1; i >= 0; i, n = i-1, n/10 {
		text[i] = '0' + byte(n%10)
	}
}

// parseStamp reads what StampOf wrote and nothing else.
func parseStamp(s string) (time.Time, bool) {
	if len(s) != len(timeFormat) || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' || s[19] != '.' || s[29] != 'Z' {
		return time.Time{}, false
	}
	good := true
	number := func(from, to int) int {
		n := 0
		for i := from; i < to; i++ {
			d := s[i] - '0'
			good = good && d <= 9
			n = n*10 + int(d)
		}
		return n
	}
	year, month, day := number(0, 4), number(5, 7), number(8, 10)
	hour, minute, second := number(11, 13), number(14, 16), number(17, 19)
	nanos := number(20, 29)
	if !good || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, nanos, time.UTC), true
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

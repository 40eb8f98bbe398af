package skillmd

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// words finds words that pass for Latin ones: Latin letters with look-alikes
// among them (mixed-script), and words made of look-alikes alone in text that
// is otherwise Latin (look-alike).
func (s *sheet) words() {
	var doc *letters // of the whole text, counted when first needed
	for i := 0; i < len(s.text); {
		if s.text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s.text[i:])
		if alphabetOf(r) < cyrillic {
			i += size
			continue
		}
		start, end := s.wordAt(i)
		word := s.text[start:end]
		i = end
		if kind := suspect(count(word)); kind != "" {
			if doc == nil {
				doc = new(count(s.text))
			}
			s.addWord(kind, start, word, doc)
		}
	}
}

// wordAt returns the bounds of the run of letters and marks around offset i.
func (s *sheet) wordAt(i int) (start, end int) {
	start, end = i, i
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(s.text[:start])
		if !inWord(r) {
			break
		}
		start -= size
	}
	for end < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[end:])
		if !inWord(r) {
			break
		}
		end += size
	}
	return start, end
}

// inWord leaves out letters that are never taken for Latin: in "使用git" the word
// is git.
func inWord(r rune) bool { return alphabetOf(r) != other || r >= 0x300 && unicode.Is(unicode.M, r) }

// alphabet is a script whose letters can be taken for Latin ones, and latin
// itself; the zero value is any other.
type alphabet uint8

const (
	other alphabet = iota
	latin
	cyrillic // from here on: scripts with look-alikes
	greek
	armenian
	cherokee
	alphabets
)

func alphabetOf(r rune) alphabet {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r|0x20 && r|0x20 <= 'z' {
			return latin
		}
		return other
	case r >= 0x400 && r <= 0x52f && (r < 0x482 || r > 0x489):
		return cyrillic
	case r >= 0x590 && r < 0x13a0, r >= 0x3000 && r < 0xa640, r >= 0xac00 && r < 0xf900, r >= 0x1f000:
		return other // from Hebrew to Ethiopic, East Asia, emoji: in a hurry
	case !unicode.IsLetter(r):
		return other
	case unicode.Is(unicode.Latin, r):
		return latin
	case unicode.Is(unicode.Cyrillic, r):
		return cyrillic
	case unicode.Is(unicode.Greek, r):
		return greek
	case unicode.Is(unicode.Armenian, r):
		return armenian
	case unicode.Is(unicode.Cherokee, r):
		return cherokee
	}
	return other
}

// letters counts, by alphabet, the letters with a Latin twin and those without;
// every Latin letter counts as plain.
type letters struct {
	twins, plain [alphabets]int
}

func count(text string) letters {
	var n letters
	for _, r := range text {
		a := alphabetOf(r)
		if a >= cyrillic && twin(a, r) != 0 {
			n.twins[a]++
		} else {
			n.plain[a]++
		}
	}
	return n
}

// script returns the one alphabet that has twins; other if there are several or
// none. all reports that n has no letter of such an alphabet without a twin.
func (n letters) script() (script alphabet, total int, all bool) {
	all = true
	for a := cyrillic; a < alphabets; a++ {
		if n.twins[a] > 0 {
			script, total = a, total+n.twins[a]
		}
		all = all && n.plain[a] == 0
	}
	return script, total, all
}

// suspect says what is wrong with a word by itself. A word that has a letter
// without a Latin twin passes for nothing. Greek letters in short words are
// formulas.
func suspect(word letters) Kind {
	script, twins, all := word.script()
	switch {
	case twins == 0 || !all:
		return ""
	case word.plain[latin] > 0:
		if script == greek && twins+word.plain[latin] <= 3 {
			return ""
		}
		return MixedScript
	case script == greek && twins < 3, script > greek && twins < 2:
		return ""
	}
	return LookAlike
}

// addWord reports a suspect word unless the text around it explains it: the
// line, or the whole text, is written in the script of the look-alikes.
func (s *sheet) addWord(kind Kind, start int, word string, doc *letters) {
	n := count(word)
	script, _, _ := n.script()
	around := s.lineAt(start).letters(s.text)
	native := around.plain[script] >= 3 && around.plain[script]*10 >= around.plain[latin]
	if kind == MixedScript && native && inflected(word) {
		return // "PDFа": a Latin abbreviation with a native ending
	}
	if kind == LookAlike && (native || doc.plain[script]*20 >= doc.plain[latin]) {
		return
	}
	s.add(start, Hazard, kind, func() string {
		verb := "is not Latin"
		if kind == MixedScript {
			verb = "is not all Latin"
		}
		return fmt.Sprintf("the word %s %s: %s", quote(word), verb, twinList(word))
	})
}

// inflected reports whether word is Latin capitals followed by other letters.
func inflected(word string) bool {
	stem := strings.TrimLeft(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	return len(word)-len(stem) >= 2 && count(stem).plain[latin] == 0
}

func twinList(word string) string {
	var parts []string
	for _, r := range word {
		if t := twin(alphabetOf(r), r); t != 0 {
			parts = append(parts, fmt.Sprintf("U+%04X for %c", r, t))
			if len(parts) == 4 {
				break
			}
		}
	}
	return strings.Join(parts, ", ")
}

// The look-alikes of each alphabet, each in front of the ASCII letter that it is
// taken for: of Unicode's confusables data (UTS 39) the single letters that look
// like one at reading size, and the Cyrillic and Greek k.
const (
	cyrillicTwins = "аaԁdеeһhіiјjкkӏlоoрpԛqѕsсcуyүyѵvԝwхxАAВBСCЕEԌGНHІIЈJКKМMОOРPЅSТTԜWХXУYҮYӀI"
	greekTwins    = "αaγyιiϳjκkνvοoρpυuηnχxωwϲcΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧXϹCͿJ"
	armenianTwins = "օoոnսuհhցgզqՕOՍU"
	cherokeeTwins = "ᎠDᎡRᎢTᎥiᎪAᎫJᎬEᎳWᎷMᎻHᏀGᏃZᏚSᏙVᏞLᏟCᏢPᏦKᏴB"
)

// twin returns the ASCII letter that r, a letter of a, is taken for, 0 if none.
func twin(a alphabet, r rune) rune {
	var pairs string
	switch a {
	case cyrillic:
		pairs = cyrillicTwins
	case greek:
		pairs = greekTwins
	case armenian:
		pairs = armenianTwins
	case cherokee:
		pairs = cherokeeTwins
	}
	i := strings.IndexRune(pairs, r)
	if i < 0 {
		return 0
	}
	return rune(pairs[i+utf8.RuneLen(r)])
}

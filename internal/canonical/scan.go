package canonical

// StringLength is how long the JSON string is that text begins with, its quotes
// included: all of text if it does not end. It is for who has to find their way in
// text that need not be JSON; whether the string is one it does not say.
func StringLength[T string | []byte](text T) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// ValueLength is how long the value is that text begins with, up to the comma, colon
// or bracket behind it: all of text if there is none. The text is a part of a
// canonical form, so no white space is in it; of other text it says nothing.
func ValueLength[T string | []byte](text T) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += StringLength(text[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return len(text)
}

package expr

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxExpressions is how many expressions one string may hold.
const MaxExpressions = 32

// part is a piece of a string: literal text, or the source of an expression.
type part struct {
	text         string
	isExpression bool
	// at is where the piece begins, counted in characters from 1.
	at int
}

// scan cuts a string into literal text and expressions. "$${" stands for the text "${". It is total: any text gives
// parts or an error, and two literals never follow each other. Joined, the parts of a string without "${" are the string.
func scan(text string) ([]part, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("is not valid UTF-8")
	}
	var parts []part
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			parts = append(parts, part{text: literal.String()})
			literal.Reset()
		}
	}
	count := 0
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "$${"):
			literal.WriteString("${")
			i += len("$${")
		case strings.HasPrefix(text[i:], "${"):
			begin := i + len("${")
			end, err := closing(text, begin)
			if err != nil {
				return nil, fmt.Errorf("the expression at character %d %w", character(text, i), err)
			}
			if count++; count > MaxExpressions {
				return nil, fmt.Errorf("has more than %d expressions: put several into one, or into several fields", MaxExpressions)
			}
			flush()
			parts = append(parts, part{text: text[begin:end], isExpression: true, at: character(text, begin)})
			i = end + len("}")
		default:
			literal.WriteByte(text[i])
			i++
		}
	}
	flush()
	return parts, nil
}

// character counts the characters up to a byte, from 1.
func character(text string, at int) int { return utf8.RuneCountInString(text[:at]) + 1 }

// closing finds the brace that ends the expression which begins at a byte. Braces inside CEL's braces, strings,
// quoted identifiers and comments do not end it.
func closing(text string, begin int) (int, error) {
	depth := 0
	for i := begin; i < len(text); {
		switch c := text[i]; {
		case c == '{':
			depth++
		case c == '}' && depth == 0:
			if strings.TrimSpace(text[begin:i]) == "" {
				return 0, errors.New("is empty; a literal ${ is written $${")
			}
			return i, nil
		case c == '}':
			depth--
		case c == '"' || c == '\'':
			next, err := afterString(text, i, isRaw(text[begin:i]))
			if err != nil {
				return 0, err
			}
			i = next
			continue
		case c == '`':
			if next := strings.IndexByte(text[i+1:], '`'); next >= 0 {
				i += next + 1
			}
		case strings.HasPrefix(text[i:], "//"):
			next := strings.IndexByte(text[i:], '\n')
			if next < 0 {
				return 0, errors.New("ends in a comment: its } must be on another line")
			}
			i += next
		}
		i++
	}
	return 0, errors.New("has no closing }; a literal ${ is written $${")
}

// isRaw says whether the string literal that follows is one in which a backslash is a backslash: r"…" and br"…".
func isRaw(before string) bool {
	word := strings.ToLower(before[len(strings.TrimRightFunc(before, isIdentifier)):])
	return word == "r" || word == "br" || word == "rb"
}

func isIdentifier(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// afterString returns where the string literal that begins at a byte has ended.
func afterString(text string, begin int, raw bool) (int, error) {
	quote := text[begin : begin+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text[begin:], triple) {
		quote = triple
	}
	for i := begin + len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\' && !raw:
			i++
		case strings.HasPrefix(text[i:], quote):
			return i + len(quote), nil
		}
	}
	return 0, fmt.Errorf("has a string that is not closed: %s is missing", quote)
}

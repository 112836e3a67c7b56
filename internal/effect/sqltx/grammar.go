package sqltx

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// grammar is what must be known of a dialect to tell what a statement begins with, and where it ends.
type grammar struct {
	// verbs are the words that a statement may begin with: those that never end a transaction.
	verbs []string
	// backslashes escape inside '…' and "…"; in PostgreSQL in E'…' only.
	backslashes bool
	// dollars quote as $tag$…$tag$, and number placeholders; without them placeholders are question marks.
	dollars bool
	// hashes begin comments, and comments that begin with /*! are executed.
	hashes bool
}

var (
	postgresGrammar = grammar{
		verbs: []string{
			"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES", "TABLE", "CALL", "LOCK", "NOTIFY", "TRUNCATE",
			"CREATE", "ALTER", "DROP", "COMMENT", "GRANT", "REVOKE", "REFRESH", "DO",
		},
		dollars: true,
	}
	// Whatever else MySQL has commits by itself, or may: DDL, LOCK TABLES, a procedure.
	mysqlGrammar = grammar{
		verbs:       []string{"SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "VALUES", "TABLE"},
		backslashes: true, hashes: true,
	}
)

// readers are the verbs of statements that return rows.
var readers = []string{"SELECT", "WITH", "VALUES", "TABLE"}

// reads reports whether a statement returns rows. After WITH it is the first verb outside of parentheses that tells.
func (g grammar) reads(statement string) bool {
	tokens := g.tokens(statement)
	first := verb(tokens)
	if first != "WITH" {
		return slices.Contains(readers, first)
	}
	depth := 0
	for _, token := range tokens {
		word := strings.ToUpper(token)
		switch {
		case token == "(":
			depth++
		case token == ")":
			depth--
		case depth == 0 && word != "WITH" && slices.Contains(g.verbs, word):
			return slices.Contains(readers, word)
		}
	}
	return true
}

// check returns what is wrong with a statement that gets so many arguments.
func (g grammar) check(statement string, arguments int) error {
	if strings.Contains(statement, "${") {
		return errors.New("SQL text holds no expressions, so that no value can become SQL: put a placeholder here, and the expression into args")
	}
	tokens := g.tokens(statement)
	for i, token := range tokens {
		switch {
		case token == "/*!":
			return errors.New("a comment that is executed cannot be checked: write the statement without it")
		case token == ";" && i < len(tokens)-1:
			return errors.New("holds more than one statement: write each as one of its own")
		case token == unclosed:
			return errors.New("a quotation or a comment in it has no end")
		}
	}
	switch first := verb(tokens); {
	case first == "":
		return errors.New("holds no statement")
	case !slices.Contains(g.verbs, first):
		return fmt.Errorf("a statement must not begin with %s: the transaction is the operator's to begin and to commit, with the ledger's row in it; it may begin with %s", first, strings.Join(g.verbs, ", "))
	}
	if needs := g.placeholders(tokens); needs != arguments {
		return fmt.Errorf("has %d placeholders, and args has %d values", needs, arguments)
	}
	return nil
}

// placeholders counts what needs an argument: question marks, or up to the highest number.
func (g grammar) placeholders(tokens []string) int {
	count := 0
	for _, token := range tokens {
		if !g.dollars && token == "?" {
			count++
		}
		if number, ok := strings.CutPrefix(token, "$"); ok && g.dollars {
			if n, err := strconv.Atoi(number); err == nil {
				count = max(count, n)
			}
		}
	}
	return count
}

// verb is the first word, in capitals. Parentheses may stand before a query.
func verb(tokens []string) string {
	for _, token := range tokens {
		if token != "(" {
			return strings.ToUpper(token)
		}
	}
	return ""
}

// unclosed is the token of a quotation or comment without an end.
const unclosed = "\x00"

// tokens returns the words, the placeholders and the single characters of a text that are outside of quotations and
// comments. A quotation is the token '.
func (g grammar) tokens(text string) []string {
	var tokens []string
	for text != "" {
		token, length := g.next(text)
		if length < 0 {
			return append(tokens, unclosed)
		}
		if token != "" {
			tokens = append(tokens, token)
		}
		text = text[length:]
	}
	return tokens
}

// next returns the token that a text begins with, which is empty for what separates, and its length; -1: it has no end.
func (g grammar) next(text string) (token string, length int) {
	switch c := text[0]; {
	case g.hashes && c == '#', strings.HasPrefix(text, "--") && (g.dollars || len(text) == 2 || text[2] <= ' '):
		return "", through(text, 1, "\n", len(text))
	case g.hashes && (strings.HasPrefix(text, "/*!") || strings.HasPrefix(text, "/*M!")):
		return "/*!", through(text, 2, "*/", -1)
	case strings.HasPrefix(text, "/*"):
		return "", g.comment(text)
	case c == '\'' || c == '"' || c == '`':
		return "'", g.quotation(text, g.backslashes && c != '`')
	case g.dollars && (c == 'e' || c == 'E') && strings.HasPrefix(text[1:], "'"):
		length := g.quotation(text[1:], true)
		return "'", length + min(length, 1)
	case g.dollars && c == '$':
		return g.dollar(text)
	case isWord(c):
		return word(text), len(word(text))
	case strings.IndexByte(" \t\r\n\f\v", c) >= 0:
		return "", 1
	default:
		return text[:1], 1
	}
}

// through is the length up to the end of a mark that is looked for from a place on.
func through(text string, from int, mark string, otherwise int) int {
	if at := strings.Index(text[from:], mark); at >= 0 {
		return from + at + len(mark)
	}
	return otherwise
}

// comment is the length of a comment; in PostgreSQL they nest.
func (g grammar) comment(text string) int {
	if !g.dollars {
		return through(text, 2, "*/", -1)
	}
	depth := 0
	for i := 0; i+1 < len(text); i++ {
		switch text[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			i++
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// quotation is the length of a quotation. A doubled quote does not end it: it begins the next one, which is the same.
func (g grammar) quotation(text string, backslashes bool) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && backslashes:
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return -1
}

// dollar reads a placeholder, or a quotation between two tags.
func (g grammar) dollar(text string) (token string, length int) {
	name := word(text[1:])
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return "$" + name, 1 + len(name)
	}
	tag := "$" + name + "$"
	if !strings.HasPrefix(text, tag) {
		return "$", 1
	}
	return "'", through(text, len(tag), tag, -1)
}

func isWord(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func word(text string) string {
	for i := range len(text) {
		if !isWord(text[i]) {
			return text[:i]
		}
	}
	return text
}

package effect

import "strings"

// OneLine makes a message one line of at most so many characters.
func OneLine(message string, most int) string {
	message = strings.Join(strings.Fields(strings.ToValidUTF8(message, "?")), " ")
	if runes := []rune(message); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return message
}

package install_test

import (
	"regexp"
	"strings"
	"testing"
)

// pages are those whose commands are run here, and not with the other documents': they install and uninstall.
var pages = []string{"docs/install.md", "docs/upgrade.md", "docs/uninstall.md", "docs/security.md"}

var heading = regexp.MustCompile(`^(#+) (.*)$`)

// sections returns the shell blocks of a page, by heading.
func sections(text string) map[string]string {
	found, under, language := map[string]string{}, "", ""
	for line := range strings.SplitSeq(text, "\n") {
		switch fence, ok := strings.CutPrefix(line, "```"); {
		case ok && language == "":
			language = fence + " "
		case ok:
			language = ""
		case language == "sh ":
			found[under] += line + "\n"
		case language == "":
			if title := heading.FindStringSubmatch(line); title != nil {
				under = title[2]
			}
		}
	}
	return found
}

// follow runs what a page says under a heading. The words of its examples may stand for others.
func (w *world) follow(page, heading string, instead ...string) string {
	w.Helper()
	text := w.read(page)
	script, ok := sections(text)[heading]
	if !ok {
		w.Fatalf("%s shows no commands under %q", page, heading)
	}
	followed[page+"#"+heading] = true
	return w.sh(strings.NewReplacer(instead...).Replace(script))
}

// followed are the sections whose commands were run.
var followed = map[string]bool{}

// TestZEverythingThatIsShownWasRun looks, after all other tests, for commands that none of them has run. Alone it has nothing to
// judge by, and fails.
func TestZEverythingThatIsShownWasRun(t *testing.T) {
	w := newWorld(t)
	for _, page := range pages {
		text := w.read(page)
		for heading := range sections(text) {
			if !followed[page+"#"+heading] {
				t.Errorf("%s: the commands under %q were not run by the tests that came before this one (run it with all of them)", page, heading)
			}
		}
	}
}

package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"
)

// agree shows what would be decided about, and asks on a terminal. Where nobody can be asked it needs --yes.
func (o *decide) agree(ctx context.Context, subjects []*subject, skipped int) error {
	if err := o.preview(subjects, skipped); err != nil {
		return err
	}
	switch {
	case o.yes, o.dryRun != "none":
		return nil
	case !o.terminal(o.In):
		return failed(exitError, "nothing was decided: give --yes if this is what you mean, or --dry-run=server to try it")
	}
	fmt.Fprintf(o.ErrOut, "%s for %d? [y/N] ", o.kind.action, len(subjects))
	answer, err := unless(ctx, func() (string, error) {
		answer, _ := bufio.NewReader(o.In).ReadString('\n') // none is a no
		return answer, nil
	})
	if err != nil {
		return failed(exitError, "nothing was decided: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	default:
		return failed(exitError, "nothing was decided")
	}
}

// preview goes to standard error: standard output is for what came of it.
func (o *decide) preview(subjects []*subject, skipped int) error {
	fmt.Fprintf(o.ErrOut, "%s, because: %s\n\n", o.kind.action, o.reason)
	err := table(o.ErrOut, func(row func(...any)) {
		row("NAMESPACE", "NAME", "STATE", "ATTEMPT", "TEMPLATE", "PARAMETERS")
		for _, s := range subjects {
			row(s.Name.Namespace, s.Name.Name, s.standing(), s.attempt(), s.TemplateName(), cut(s.parameters(), 60))
		}
	})
	fmt.Fprintln(o.ErrOut)
	if skipped > 0 {
		fmt.Fprintf(o.ErrOut, "Left out, since it is of no use there: %d\n\n", skipped)
	}
	return err
}

// parameters on one line.
func (s *subject) parameters() string {
	switch {
	case s.Submission != nil && len(s.Submission.Spec.Parameters.Raw) > 0:
		return oneLine(s.Submission.Spec.Parameters.Raw)
	case s.Submission == nil && s.Action().Parameters != nil:
		return oneLine(s.Action().Parameters.Raw)
	default:
		return "{}"
	}
}

// cut shortens a text to a number of letters.
func cut(text string, limit int) string {
	if letters := []rune(text); len(letters) > limit {
		return string(letters[:limit-1]) + "…"
	}
	return text
}

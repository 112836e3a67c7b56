package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Exit codes, by what became of what was asked for.
const (
	exitDone    = 0
	exitError   = 1 // it could not be done: usage, connection, rights
	exitFailed  = 2 // a submission is Failed
	exitUnknown = 3 // not known, or not known yet
	exitRefused = 4 // refused by the API server or by the operator
)

// gravity orders exit codes, where several things were asked for.
var gravity = map[int]int{exitDone: 0, exitFailed: 1, exitRefused: 2, exitUnknown: 3, exitError: 4}

// coded is an error with the exit code that it leads to. An empty message: it was said already.
type coded struct {
	code int
	err  error
}

func (c *coded) Error() string {
	if c.err == nil {
		return ""
	}
	return c.err.Error()
}

func (c *coded) Unwrap() error { return c.err }

func failed(code int, format string, arguments ...any) error {
	return &coded{code: code, err: fmt.Errorf(format, arguments...)}
}

// usage is an error about flags or arguments.
func usage(command *cobra.Command, format string, arguments ...any) error {
	return failed(exitError, "%s\nSee '%s --help'.", fmt.Sprintf(format, arguments...), command.CommandPath())
}

// codeOf returns the exit code of an error.
func codeOf(err error) int {
	var c *coded
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &c):
		return c.code
	default:
		return exitError
	}
}

// report says an error as kubectl does, and returns the exit code.
func report(w io.Writer, err error) int {
	if err != nil && err.Error() != "" {
		fmt.Fprintln(w, said(err))
	}
	return codeOf(err)
}

// said words an error in kubectl's manner.
func said(err error) string {
	var status apierrors.APIStatus
	var unreachable *url.Error
	text := err.Error()
	switch {
	case errors.As(err, &status) && status.Status().Message == text:
		return saidByServer(status.Status())
	case errors.As(err, &unreachable) && unreachable.Error() == text:
		return notConnected(unreachable)
	case strings.HasPrefix(text, "error:"):
		return text
	default:
		return "error: " + text
	}
}

func saidByServer(status metav1.Status) string {
	switch status.Reason {
	case "":
		return "Error from server: " + status.Message
	case metav1.StatusReasonUnauthorized:
		return fmt.Sprintf("error: You must be logged in to the server (%s)", status.Message)
	default:
		return fmt.Sprintf("Error from server (%s): %s", status.Reason, status.Message)
	}
}

func notConnected(err *url.Error) string {
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Sprintf("Unable to connect to the server: %v", err.Err)
	}
	host := err.URL
	if parsed, err := url.Parse(err.URL); err == nil {
		host = parsed.Host
	}
	return fmt.Sprintf("The connection to the server %s was refused - did you specify the right host or port?", host)
}

// refused reports whether the API server looked at what it was to create, and refused that: it is not valid, or admission
// denied it. Of who asks, and with what rights, it says nothing.
func refused(err error) bool {
	switch statusOf(err) {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	case http.StatusForbidden: // by admission, or by authorization, whose words are always these
		return !strings.Contains(err.Error(), " cannot create resource ")
	default:
		return false
	}
}

// tally is what became of many: errors are said as they come, and the gravest decides the exit code.
type tally struct {
	w     io.Writer
	worst int
}

func newTally(w io.Writer) *tally { return &tally{w: w} }

// add says an error about one of them; nil: it is done.
func (t *tally) add(err error) {
	code := report(t.w, err)
	if gravity[code] > gravity[t.worst] {
		t.worst = code
	}
}

// err returns what decides the exit code; everything was said.
func (t *tally) err() error {
	if t.worst == exitDone {
		return nil
	}
	return &coded{code: t.worst}
}

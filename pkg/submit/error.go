package submit

import (
	"fmt"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// RefusedError says that the API server refused a submission: nothing was created. Unwrap returns its answer, which
// the functions of k8s.io/apimachinery/pkg/api/errors understand.
type RefusedError struct {
	Name string
	Err  error
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the submission %q was refused: %v", e.Name, e.Err)
}

func (e *RefusedError) Unwrap() error { return e.Err }

// CredentialsError says that the program which the kubeconfig names for credentials (client-go's exec plugin) failed, so that
// nothing was sent. Unwrap returns what it said.
type CredentialsError struct {
	Err error
}

func (e *CredentialsError) Error() string {
	return fmt.Sprintf("nothing was sent, for want of credentials: %v: run the program that the kubeconfig names for them, and log in if it asks for that", e.Err)
}

func (e *CredentialsError) Unwrap() error { return e.Err }

// UnknownError says that a create was not answered, and that it could not be found out in time whether it landed.
type UnknownError struct {
	Name string
	Err  error
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("whether the submission %q was created is unknown: submit it again, under the same key, to find out: %v", e.Name, e.Err)
}

func (e *UnknownError) Unwrap() error { return e.Err }

// OtherPayloadError says that a key belongs to another action already, with another template or other parameters.
type OtherPayloadError struct {
	Key      string
	Existing *v1alpha1.TaskSubmission
}

func (e *OtherPayloadError) Error() string {
	return fmt.Sprintf("the key %q belongs to the submission %q, which has another template or other parameters: give this action a key of its own", e.Key, e.Existing.Name)
}

// GoneError says that a submission was deleted, or never was there. What it has begun is not undone, and its outcome is not
// lost: submitting it again, under the same key, tells it.
type GoneError struct {
	Name string
	// Last is the submission as it was last seen; nil: it was never seen.
	Last *v1alpha1.TaskSubmission
}

func (e *GoneError) Error() string {
	if e.Last == nil {
		return fmt.Sprintf("there is no submission %q", e.Name)
	}
	return fmt.Sprintf("the submission %q was deleted while it was waited for: submit it again, under the same key, to learn its outcome", e.Name)
}

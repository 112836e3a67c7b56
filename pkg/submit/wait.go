package submit

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Wait submits the action where that has not been done, and returns its submission when it has finished: in phase
// Success, or Failed (which is no error here). A *GoneError says that it was deleted first.
func (s *Submission) Wait(ctx context.Context) (*v1alpha1.TaskSubmission, error) {
	return s.Follow(ctx, finished)
}

// Follow submits the action where that has not been done, and follows its submission as Client.Follow does. Another one of
// its name, after it was deleted, is not taken for it.
func (s *Submission) Follow(ctx context.Context, enough func(*v1alpha1.TaskSubmission) bool) (*v1alpha1.TaskSubmission, error) {
	receipt, err := s.Submit(ctx)
	if err != nil {
		return nil, err
	}
	return s.client.follow(ctx, client.ObjectKeyFromObject(s.object), receipt.Object, enough)
}

// Wait returns the submission of a key when it has finished. It submits nothing: a *GoneError says that it is not
// there.
func (c *Client) Wait(ctx context.Context, namespace, key string) (*v1alpha1.TaskSubmission, error) {
	name, err := v1alpha1.NameForKey(key)
	if err != nil {
		return nil, err
	}
	return c.Follow(ctx, types.NamespacedName{Namespace: namespace, Name: name}, finished)
}

func finished(submission *v1alpha1.TaskSubmission) bool { return submission.Status.Phase.Terminal() }

// Follow calls enough for a submission as it is and after each change, and returns it when that says true. It watches,
// takes the watch up again where it is cut, and waits for an API server that cannot be asked. It returns ctx's error
// when ctx ends, with what the last try came to, a *GoneError when the submission is deleted, the API server's answer where that refuses to tell, and a
// *CredentialsError where there are no credentials to begin with: those that end meanwhile are asked for again.
func (c *Client) Follow(ctx context.Context, name types.NamespacedName, enough func(*v1alpha1.TaskSubmission) bool) (*v1alpha1.TaskSubmission, error) {
	return c.follow(ctx, name, nil, enough)
}

// follow does it for a submission that was seen already, where last is not nil.
func (c *Client) follow(ctx context.Context, name types.NamespacedName, last *v1alpha1.TaskSubmission, enough func(*v1alpha1.TaskSubmission) bool) (*v1alpha1.TaskSubmission, error) {
	f := &following{client: c, named: &v1alpha1.TaskSubmission{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}, last: last, enough: enough}
	for pause := c.newPause(); ; {
		done, err := f.look(ctx)
		if done || final(err) || f.last == nil && lacksCredentials(err) {
			return f.last, err
		}
		if err == nil {
			pause = c.newPause() // a watch that ends after it has begun is no fault
		}
		pause.wait(ctx, f.named, err)
		if ctx.Err() != nil {
			return f.last, ended(ctx, err)
		}
	}
}

// final reports whether an error ends the waiting: the submission is gone, or nobody will tell. History that is gone
// is no reason: what is now is read again.
func final(err error) bool {
	var gone *GoneError
	switch {
	case err == nil, apierrors.IsGone(err), apierrors.IsResourceExpired(err):
		return false
	default:
		return errors.As(err, &gone) || sent{err: err}.refused()
	}
}

// following is one submission that is followed.
type following struct {
	client *Client
	named  *v1alpha1.TaskSubmission
	last   *v1alpha1.TaskSubmission // as it was last seen
	enough func(*v1alpha1.TaskSubmission) bool
}

// look reads the submission and watches it from there on. It returns nil where the watch ended by itself.
func (f *following) look(ctx context.Context) (done bool, err error) {
	found, err := f.client.read(ctx, f.named)
	switch {
	case apierrors.IsNotFound(err):
		return false, f.gone()
	case err != nil:
		return false, err
	case f.last != nil && f.last.UID != found.UID:
		return false, f.gone() // another one of that name: it was deleted, and submitted again
	}
	if f.last = found; f.enough(found) {
		return true, nil
	}
	changes, err := f.client.API.Watch(ctx, &v1alpha1.TaskSubmissionList{}, &client.ListOptions{
		Namespace: f.named.Namespace, FieldSelector: fields.OneTermEqualSelector("metadata.name", f.named.Name),
		Raw: &metav1.ListOptions{ResourceVersion: found.ResourceVersion},
	})
	if err != nil {
		return false, err
	}
	defer changes.Stop()
	for event := range changes.ResultChan() {
		if done, err := f.learn(event); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

func (f *following) learn(event watch.Event) (done bool, err error) {
	switch event.Type {
	case watch.Error:
		// What it says is about the watch, and not for good: the submission is read again.
		return false, fmt.Errorf("the watch was ended: %s", apierrors.FromObject(event.Object).Error())
	case watch.Deleted: // its end, had there been one, came first
		return false, f.gone()
	case watch.Added, watch.Modified:
		if submission, ok := event.Object.(*v1alpha1.TaskSubmission); ok {
			f.last = submission
			return f.enough(submission), nil
		}
	}
	return false, nil
}

func (f *following) gone() error { return &GoneError{Name: f.named.Name, Last: f.last} }

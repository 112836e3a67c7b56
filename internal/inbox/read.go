package inbox

import (
	"context"
	"errors"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Reader reads what is known of actions. It reads each template once, since many actions share one: use one for a look.
type Reader struct {
	API client.Reader

	// templates are those that were read, by namespace and name: functions that read one once.
	templates sync.Map
}

// Complete adds to a submission its record, its template, and who holds its business key. An error says that one of them
// could not be read: nothing can be decided without.
func (r *Reader) Complete(ctx context.Context, submission *v1alpha1.TaskSubmission) (Subject, error) {
	s, err := r.Visible(ctx, submission)
	if err == nil {
		err = s.Hidden
	}
	return s, err
}

// Visible does the same, also where whoever asks may not read the record: it is Hidden then.
func (r *Reader) Visible(ctx context.Context, submission *v1alpha1.TaskSubmission) (Subject, error) {
	s := Subject{Name: client.ObjectKeyFromObject(submission), Submission: submission}
	record := &v1alpha1.TaskRecord{}
	err := r.API.Get(ctx, types.NamespacedName{Namespace: s.Name.Namespace, Name: v1alpha1.RecordName(submission.Key())}, record)
	switch {
	case apierrors.IsForbidden(err):
		s.Hidden = err
	case client.IgnoreNotFound(err) != nil:
		return s, err
	case err == nil && isOf(record, submission):
		s.Record = record
	}
	return s, r.surround(ctx, &s)
}

// Abandoned does the same for the record of an action whose submission of that name is gone.
func (r *Reader) Abandoned(ctx context.Context, name types.NamespacedName, record *v1alpha1.TaskRecord) (Subject, error) {
	s := Subject{Name: name, Record: record}
	return s, r.surround(ctx, &s)
}

func (r *Reader) surround(ctx context.Context, s *Subject) error {
	return errors.Join(r.addTemplate(ctx, s), r.addHolder(ctx, s))
}

// isOf reports whether a record is that of the submission, and not of another action under its key.
func isOf(record *v1alpha1.TaskRecord, submission *v1alpha1.TaskSubmission) bool {
	digest, err := v1alpha1.PayloadDigest(&submission.Spec)
	return err == nil && record.Spec.Action != nil && record.Spec.Key == submission.Key() && record.Spec.Action.PayloadDigest == digest
}

// addTemplate adds the template as it was read first.
func (r *Reader) addTemplate(ctx context.Context, s *Subject) (err error) {
	name := types.NamespacedName{Namespace: s.Name.Namespace, Name: s.TemplateName()}
	read, _ := r.templates.LoadOrStore(name, sync.OnceValues(func() (*v1alpha1.TaskTemplate, error) {
		template := &v1alpha1.TaskTemplate{}
		if err := r.API.Get(ctx, name, template); err != nil {
			return nil, client.IgnoreNotFound(err)
		}
		return template, nil
	}))
	s.Template, err = read.(func() (*v1alpha1.TaskTemplate, error))()
	return err
}

// addHolder finds the holder of the business key that an action waits for.
func (r *Reader) addHolder(ctx context.Context, s *Subject) error {
	action := s.Action()
	if s.Reason() != v1alpha1.ReasonBusinessKeyHeld || action == nil || action.Claim == "" {
		return nil
	}
	claim, record := &v1alpha1.TaskRecord{}, &v1alpha1.TaskRecord{}
	err := r.API.Get(ctx, types.NamespacedName{Namespace: s.Name.Namespace, Name: action.Claim}, claim)
	if err != nil || claim.Spec.Holder == nil {
		return client.IgnoreNotFound(err) // its turn has come
	}
	err = r.API.Get(ctx, types.NamespacedName{Namespace: s.Name.Namespace, Name: claim.Spec.Holder.Record}, record)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return err
	case err != nil || record.Spec.Action == nil:
		s.Holder.Stuck = true
	default:
		held := record.Spec.Action
		s.Holder = Holder{Submission: held.Submission.Name, Stuck: held.LeftAlone()}
	}
	return nil
}

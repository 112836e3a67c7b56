package gateway

import (
	"context"
	"errors"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

type findInput struct {
	Namespace string `path:"namespace" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	Key       string `query:"idempotencyKey" required:"true" doc:"The key, as it is: not in quotes."`
}

type getInput struct {
	Namespace string `path:"namespace" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
	Name      string `path:"name" maxLength:"63" pattern:"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"`
}

type readOutput struct {
	Location string `header:"Content-Location"`
	Cache    string `header:"Cache-Control"`
	Body     *View
}

// find answers with the submission of a key. It creates nothing.
func (g *Gateway) find(ctx context.Context, in *findInput) (*readOutput, error) {
	name, err := v1alpha1.NameForKey(in.Key)
	if err != nil {
		return nil, problem(invalidKey, err.Error())
	}
	found, wrong := g.read(ctx, client.ObjectKey{Namespace: in.Namespace, Name: name})
	switch {
	case wrong != nil && wrong.Type == notFound.Type():
		return nil, nothingUnder(in.Key)
	case wrong != nil:
		return nil, wrong
	case found.Key() != in.Key: // the hash of another key: its outcome is nobody's business here
		return nil, nothingUnder(in.Key)
	}
	return &readOutput{Location: location(found), Cache: "no-store", Body: viewOf(found)}, nil
}

// nothingUnder says that a key stands for nothing. A key in quotes is another one: whoever took it from the header must not
// believe that nothing was submitted.
func nothingUnder(key string) *Problem {
	detail := "nothing was submitted under this key"
	if len(key) > 1 && strings.HasPrefix(key, `"`) && strings.HasSuffix(key, `"`) {
		detail += ", whose quotes belong to it: ask for it without those of the header Idempotency-Key"
	}
	return problem(notFound, detail)
}

func (g *Gateway) get(ctx context.Context, in *getInput) (*readOutput, error) {
	found, wrong := g.read(ctx, client.ObjectKey{Namespace: in.Namespace, Name: in.Name})
	if wrong != nil {
		return nil, wrong
	}
	return &readOutput{Cache: "no-store", Body: viewOf(found)}, nil
}

// read returns a submission that the caller may read.
func (g *Gateway) read(ctx context.Context, name client.ObjectKey) (*v1alpha1.TaskSubmission, *Problem) {
	caller := callerOf(ctx)
	ctx, cancel := context.WithTimeout(ctx, g.Patience)
	defer cancel()
	found := &v1alpha1.TaskSubmission{}
	if err := g.Client.API.Get(ctx, name, found); err != nil {
		return nil, problemFromAPI(ctx, err)
	}
	return found, g.readable(ctx, caller, found)
}

// problemFromAPI says what the API server answered, where that is an error. What it says of the gateway's own rights is not
// told to callers.
func problemFromAPI(ctx context.Context, err error) *Problem {
	verified := callerOf(ctx).verified()
	switch {
	case verified && apierrors.IsForbidden(err):
		return notGiven(err)
	case verified && apierrors.IsUnauthorized(err):
		return problem(unavailable, "the gateway is not known to the API server").later()
	case noNamespace(err):
		return problem(noSuchNamespace, err.Error())
	case apierrors.IsNotFound(err):
		return problem(notFound, "there is nothing of this name here")
	case apierrors.IsUnauthorized(err):
		return refuseToken("the API server does not accept the token")
	case apierrors.IsForbidden(err):
		return problem(forbidden, err.Error())
	case apierrors.IsRequestEntityTooLargeError(err):
		return problem(tooLarge, err.Error())
	case apierrors.IsInvalid(err):
		return invalid(err)
	case apierrors.IsTooManyRequests(err), apierrors.ReasonForError(err) == metav1.StatusReasonUnknown, code(err) >= http.StatusInternalServerError:
		return problem(unavailable, "the API server cannot be asked").later()
	default:
		return problem(invalidRequest, err.Error())
	}
}

// notGiven says what was refused to the gateway itself: by RBAC, whose words are not for callers, or by whatever else
// refuses: a quota, a policy, a namespace that ends. It is the operator of the gateway who can do something about either.
func notGiven(err error) *Problem {
	logf.Log.WithName("gateway").Info("the API server refused what the gateway asked for", "answer", err.Error())
	if strings.Contains(err.Error(), `is forbidden: User "`) {
		return problem(forbidden, "the gateway was not given this namespace")
	}
	return problem(forbidden, "the cluster refused it: "+err.Error())
}

// noNamespace reports whether something could not be created since its namespace does not exist.
func noNamespace(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsNotFound(err) && errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Kind == "namespaces"
}

func code(err error) int {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}

// invalid says what admission has found wrong, by the reason that the submission would have failed for.
func invalid(err error) *Problem {
	for _, reason := range []v1alpha1.Reason{v1alpha1.ReasonKeyReused, v1alpha1.ReasonInvalidParameters, v1alpha1.ReasonKeyMismatch, v1alpha1.ReasonInvalidName} {
		if cause, ok := apierrors.StatusCause(err, metav1.CauseType(reason)); ok {
			return problem(problemTypeOf(reason), strings.TrimPrefix(cause.Message, "Invalid value: "))
		}
	}
	return problem(invalidRequest, err.Error())
}

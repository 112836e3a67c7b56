package submit

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// Client submits actions and waits for them. It needs the rights create, get, list and watch on tasksubmissions, and delete
// to have one that failed for its input out of the way of its key; the role taskonce-submitter has them. It is safe for
// concurrent use.
type Client struct {
	// API is any client whose scheme has the kinds of v1alpha1. Give it no cache: an answer is read back to find out
	// what happened a moment ago.
	API client.WithWatch

	// RequestTimeout is how long one request may take before its answer is taken as lost. Zero: ten seconds.
	RequestTimeout time.Duration

	// MaxDelay bounds the wait between two requests while the API server cannot be asked. Zero: ten seconds.
	MaxDelay time.Duration

	// OnRetry is called, where there is one, before each wait of that kind, with what went wrong.
	OnRetry func(name string, err error)

	watched bool // what leaves is noted
}

// Connect returns a Client of its own for a cluster. It asks the API server for nothing.
func Connect(config *rest.Config) (*Client, error) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	// The kinds are known, so nothing has to be discovered.
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"TaskSubmission", "TaskTemplate"} {
		mapper.Add(v1alpha1.GroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	api, err := client.NewWithWatch(watched(config), client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, err
	}
	return &Client{API: api, watched: true}, nil
}

// Prepare checks an action and returns its Submission, which is Idle. Nothing is sent. An error says what is wrong with
// the action, and is permanent.
func (c *Client) Prepare(action Action) (*Submission, error) {
	object, err := action.Object()
	if err != nil {
		return nil, err
	}
	return c.prepared(object)
}

// PrepareObject does the same for a submission that is given as an object, such as one that was read from a manifest.
// It may leave its name out where it has an idempotency key. What the API server and the operator say of one that is there
// is not sent: one that was read from a cluster can be submitted to another.
func (c *Client) PrepareObject(object *v1alpha1.TaskSubmission) (*Submission, error) {
	object = anew(object)
	if err := complete(object); err != nil {
		return nil, err
	}
	return c.prepared(object)
}

func (c *Client) prepared(object *v1alpha1.TaskSubmission) (*Submission, error) {
	digest, err := v1alpha1.PayloadDigest(&object.Spec)
	if err != nil {
		return nil, err
	}
	return &Submission{client: c, object: object, digest: digest, token: sign(object), state: Idle}, nil
}

func (c *Client) requestTimeout() time.Duration { return orDefault(c.RequestTimeout) }

func (c *Client) maxDelay() time.Duration { return orDefault(c.MaxDelay) }

func orDefault(d time.Duration) time.Duration {
	if d <= 0 {
		return 10 * time.Second
	}
	return d
}

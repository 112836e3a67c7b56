package cli

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/inbox"
	"github.com/taskonce/taskonce/pkg/submit"
)

// session is one run of the plugin: its streams, kubectl's flags, and the time.
type session struct {
	genericiooptions.IOStreams
	flags *genericclioptions.ConfigFlags
	now   func() time.Time
	// terminal reports whether a person is at the other end of a stream.
	terminal func(stream any) bool
}

// cluster is where a command works.
type cluster struct {
	api client.WithWatch
	// submitter submits, and follows what was submitted.
	submitter *submit.Client
	// namespace is that of the flag, or else of the kubeconfig.
	namespace string
	// explicit says that the flag was given.
	explicit bool
	// reader reads what is known of actions.
	reader *inbox.Reader
}

var scheme = newScheme()

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		panic(err) // the kinds of this repository
	}
	return scheme
}

// connect asks nothing of the API server: the kinds are known.
func (s *session) connect() (*cluster, error) {
	config, err := s.flags.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	config.QPS = -1 // the API server's own fairness is the limit
	config.WarningHandler = rest.NewWarningWriter(s.ErrOut, rest.WarningWriterOptions{Deduplicate: true})
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"TaskSubmission", "TaskTemplate", "TaskRecord", "TaskDecision"} {
		mapper.Add(v1alpha1.GroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	api, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, err
	}
	c := &cluster{api: api, reader: &inbox.Reader{API: api}}
	if c.submitter, err = s.submitter(config); err != nil {
		return nil, err
	}
	c.namespace, c.explicit, err = s.flags.ToRawKubeConfigLoader().Namespace()
	return c, err
}

// submitter returns a client that says when it has to try again.
func (s *session) submitter(config *rest.Config) (*submit.Client, error) {
	submitter, err := submit.Connect(config)
	if err == nil {
		submitter.OnRetry = func(name string, err error) {
			fmt.Fprintf(s.ErrOut, "Warning: no answer yet about %s: %v; it is asked again\n", name, err)
		}
	}
	return submitter, err
}

// limited bounds a context; zero: not at all.
func limited(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, timeout, fmt.Errorf("timed out after %s", timeout))
}

// isTerminal reports whether a stream is one that a person looks at or types into.
func isTerminal(stream any) bool {
	file, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

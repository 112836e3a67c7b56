package gateway

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/time/rate"

	"github.com/taskonce/taskonce/internal/telemetry/tracing"
	"github.com/taskonce/taskonce/pkg/submit"
)

// Gateway is the interface. It is used once, by Handler.
type Gateway struct {
	// Client speaks to the API server: with the callers' own tokens, as PassingThrough has it, or with the gateway's.
	Client *submit.Client
	// Callers says who callers are.
	Callers Authenticator
	// DefaultWait is how long a first request waits for its outcome where it does not say; MaxWait bounds what it says.
	DefaultWait, MaxWait time.Duration
	// Patience is how long the API server is asked before a request is answered with 503.
	Patience time.Duration
	// MaxBody is how many bytes a request's body may have.
	MaxBody int64
	// Rate is how many requests a caller may send in a second, and Burst how many at once. Rate 0: any number.
	Rate  rate.Limit
	Burst int
	// TrustedProxies are those whose X-Forwarded-For is believed, where tokens that are not accepted are counted by address.
	TrustedProxies []netip.Prefix
	// Origins are those whose pages may use the gateway from a browser.
	Origins []string
	// Heartbeat is how often a silent connection for events gets a comment.
	Heartbeat time.Duration
	// WaitingBytes bounds what requests that wait for an outcome hold, of one caller and in all; zero: any number.
	WaitingBytes, AllWaitingBytes int64
	// Streams is how many connections for events a caller may hold at once, and StreamLife how long one lives.
	Streams    int64
	StreamLife time.Duration
	// Tracer makes spans; nil: none.
	Tracer *tracing.Tracer
	// Version is the one that the interface's description states.
	Version string
	// Stopping ends what waits, when the process is to end: what was created goes on without it.
	Stopping <-chan struct{}

	open, waiting held
}

const base = "/v1/namespaces/{namespace}/submissions"

// Handler returns what serves the interface, and its description at /openapi.json and /openapi.yaml.
func (g *Gateway) Handler() http.Handler {
	sayProblems()
	config := huma.DefaultConfig("taskonce gateway", g.Version)
	config.CreateHooks = nil // no $schema in bodies
	config.Formats = map[string]huma.Format{"application/json": unambiguous, "json": unambiguous}
	config.DocsPath, config.SchemasPath = "", ""
	config.Info.Description = "One business action, one side effect: the same action, sent again under the same key, gets the first outcome."
	config.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"bearer": {Type: "http", Scheme: "bearer"}}
	mux := http.NewServeMux()
	api := humago.New(mux, config)
	huma.Register(api, g.operation("submit", http.MethodPost, base, "Submit an action, once", submitAnswers, http.StatusCreated), g.submit)
	huma.Register(api, g.operation("find", http.MethodGet, base, "Find the submission of a key", findAnswers, http.StatusOK), g.find)
	huma.Register(api, g.operation("get", http.MethodGet, base+"/{name}", "Get a submission", getAnswers, http.StatusOK), g.get)
	huma.Register(api, g.operation("follow", http.MethodGet, base+"/{name}/events", "Follow a submission", followAnswers, http.StatusOK), g.follow)
	describe(api)
	rehearse(mux)
	return g.guard(mux)
}

// rehearse has the description written before anybody asks for it: the library does so at the first request, without a lock.
func rehearse(mux *http.ServeMux) {
	for _, path := range []string{"/openapi.json", "/openapi-3.0.json", "/openapi.yaml"} {
		mux.ServeHTTP(&statusOnly{header: http.Header{}}, &http.Request{Method: http.MethodGet, URL: &url.URL{Path: path}})
	}
}

// unlessStopping returns a context that ends when the process is to end, too.
func (g *Gateway) unlessStopping(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-g.Stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (g *Gateway) operation(id, method, path, summary string, answers map[string]*huma.Response, status int) huma.Operation {
	return huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary, Responses: answers, DefaultStatus: status, MaxBodyBytes: g.MaxBody,
		Security: []map[string][]string{{"bearer": {}}}, RejectUnknownQueryParameters: true,
	}
}

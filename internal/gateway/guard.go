package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/rs/cors"
	"golang.org/x/time/rate"
	"k8s.io/utils/lru"
)

// guard is what each request passes before the interface: whose page it comes from, who it is, and how often they asked.
func (g *Gateway) guard(mux *http.ServeMux) http.Handler {
	limits := &limits{rate: g.Rate, burst: g.Burst, callers: lru.New(maxCallers)}
	unknown := newUnauthenticatedLimit(g.Rate, g.Burst, g.TrustedProxies)
	handler := http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		_ = http.NewResponseController(writer).SetWriteDeadline(time.Time{}) // what a stream has left on the connection
		handler, pattern := mux.Handler(request)
		switch {
		case pattern == "" || path.Clean(request.URL.Path) != request.URL.Path: // which the mux would redirect
			write(writer, unserved(handler, request))
		case !strings.HasPrefix(request.URL.Path, "/v1/"):
			mux.ServeHTTP(writer, request) // the interface's description is for everybody
		default:
			g.authenticated(writer, request, mux, limits, unknown)
		}
	})
	return measured(g.cors().Handler(handler), mux)
}

// authenticated has a request answered for the bearer of its token. Whom the gateway itself has verified is held up by nothing but a
// limit of their own; tokens that nobody stands by yet share that of the address which they come from.
func (g *Gateway) authenticated(writer http.ResponseWriter, request *http.Request, next http.Handler, limits *limits, unknown *unauthenticatedLimit) {
	token, wrong := bearerToken(request)
	var caller *Caller
	if wrong == nil {
		caller, wrong = g.Callers.Authenticate(request.Context(), token)
	}
	if wrong == nil && caller.verified() {
		serve(writer, request, caller, next, limits)
		return
	}
	if !unknown.admit(request, token) {
		write(writer, problem(tooMany, "too many requests without an accepted token have come from this address").later())
		return
	}
	seen := &recorder{ResponseWriter: writer, status: http.StatusOK}
	if wrong != nil {
		write(seen, wrong)
	} else {
		serve(seen, request, caller, next, limits)
	}
	unknown.learn(request, token, seen.status)
}

// serve has a request answered, unless its caller has sent too many.
func serve(writer http.ResponseWriter, request *http.Request, caller *Caller, next http.Handler, limits *limits) {
	if !limits.allow(caller.Identity) {
		write(writer, problem(tooMany, "this caller has sent more requests than it may").later())
		return
	}
	next.ServeHTTP(writer, request.WithContext(context.WithValue(request.Context(), callerKey{}, caller)))
}

// unserved says what is wrong with a request that nothing serves: the method, or the path.
func unserved(handler http.Handler, request *http.Request) *Problem {
	probe := &statusOnly{header: http.Header{}}
	handler.ServeHTTP(probe, request)
	if probe.status == http.StatusMethodNotAllowed {
		p := problem(wrongMethod, request.Method+" is not among "+probe.header.Get("Allow"))
		p.header.Set("Allow", probe.header.Get("Allow"))
		return p
	}
	return problem(noSuchPath, "nothing is served at this path")
}

// statusOnly takes an answer and keeps its status and header.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header            { return s.header }
func (s *statusOnly) WriteHeader(status int)         { s.status = status }
func (s *statusOnly) Write(body []byte) (int, error) { return len(body), nil }

func write(writer http.ResponseWriter, p *Problem) {
	for name, values := range p.header {
		writer.Header()[name] = values
	}
	writer.Header().Set("Content-Type", "application/problem+json")
	writer.WriteHeader(p.Status)
	_ = json.NewEncoder(writer).Encode(p)
}

func (g *Gateway) cors() *cors.Cors {
	options := cors.Options{
		AllowedOrigins: g.Origins,
		AllowedMethods: []string{http.MethodGet, http.MethodPost},
		AllowedHeaders: []string{"Authorization", "Content-Type", headerKey, "Last-Event-ID", "Prefer", "traceparent"},
		ExposedHeaders: []string{headerReplayed, "Location", "Preference-Applied", "Retry-After"},
		MaxAge:         600,
	}
	if len(g.Origins) == 0 { // the library takes none for all
		options.AllowOriginFunc = func(string) bool { return false }
	}
	return cors.New(options)
}

// maxCallers bounds how many callers' limits are remembered. One that is forgotten begins with a whole burst.
const maxCallers = 10_000

type limits struct {
	rate    rate.Limit
	burst   int
	mu      sync.Mutex
	callers *lru.Cache
}

func (l *limits) allow(identity string) bool {
	return l.rate == 0 || l.of(identity).Allow()
}

// left reports whether one more would be allowed.
func (l *limits) left(identity string) bool {
	return l.rate == 0 || l.of(identity).Tokens() >= 1
}

func (l *limits) of(identity string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.callers.Get(identity); ok {
		return known.(*rate.Limiter)
	}
	limiter := rate.NewLimiter(l.rate, l.burst)
	l.callers.Add(identity, limiter)
	return limiter
}

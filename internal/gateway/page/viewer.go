package page

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/lru"
)

// viewers asks the API server who holds a token, and whether they may see the page. Unlike the filter for metrics it tells
// a token that is refused from an API server that does not answer: upon one a browser asks for another token, and upon the
// other it shows what it knew.
type viewers struct {
	ask     func(ctx context.Context, token string) (status int)
	now     func() time.Time
	known   *lru.Cache    // of judged, by the digest of a token
	looking *rate.Limiter // bounds what made-up tokens cost the API server
}

// judged is the status that a token was answered with.
type judged struct {
	status int
	until  time.Time
}

// How long an answer holds: a right that is taken away is lost, and one that is given is found, after so long.
const (
	trusted = time.Minute
	refused = 5 * time.Second
)

const (
	maxViewers   = 1000
	looksASecond = 10
	askTimeout   = 10 * time.Second
)

// Authorized serves those who may get StatePath, which the API server is asked about.
func Authorized(config *rest.Config, next http.Handler) (http.Handler, error) {
	api, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return authorized(reviews{api}.ask, time.Now, next), nil
}

func authorized(ask func(context.Context, string) int, now func() time.Time, next http.Handler) http.Handler {
	v := &viewers{ask: ask, now: now, known: lru.New(maxViewers), looking: rate.NewLimiter(looksASecond, 2*looksASecond)}
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		switch status := v.judge(request); status {
		case http.StatusOK:
			next.ServeHTTP(writer, request)
		case http.StatusUnauthorized:
			writer.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(writer, "send a token that the API server knows", status)
		case http.StatusForbidden:
			http.Error(writer, "who holds this token may not get "+StatePath+": bind the ClusterRole taskonce-page-viewer", status)
		case http.StatusTooManyRequests:
			http.Error(writer, "too many new tokens: try again in a second", status)
		default:
			http.Error(writer, "the API server cannot be asked who holds this token", status)
		}
	})
}

// judge returns the status for who sends a request.
func (v *viewers) judge(request *http.Request) int {
	scheme, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); token == "" || !strings.EqualFold(scheme, "Bearer") {
		return http.StatusUnauthorized
	}
	digest := sha256.Sum256([]byte(token))
	if found, ok := v.known.Get(digest); ok && v.now().Before(found.(judged).until) {
		return found.(judged).status
	}
	if !v.looking.Allow() {
		return http.StatusTooManyRequests
	}
	ctx, cancel := context.WithTimeout(request.Context(), askTimeout)
	defer cancel()
	status := v.ask(ctx, token)
	switch status {
	case http.StatusOK:
		v.known.Add(digest, judged{status, v.now().Add(trusted)})
	case http.StatusUnauthorized, http.StatusForbidden:
		v.known.Add(digest, judged{status, v.now().Add(refused)})
	}
	return status
}

// reviews asks the API server.
type reviews struct{ api kubernetes.Interface }

func (r reviews) ask(ctx context.Context, token string) int {
	who, err := r.api.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})
	switch {
	case err != nil:
		return http.StatusServiceUnavailable
	case !who.Status.Authenticated:
		return http.StatusUnauthorized
	}
	user := who.Status.User
	may, err := r.api.AuthorizationV1().SubjectAccessReviews().Create(ctx, &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: StatePath, Verb: "get"},
		User:                  user.Username, UID: user.UID, Groups: user.Groups, Extra: extraOf(user.Extra),
	}}, metav1.CreateOptions{})
	switch {
	case err != nil:
		return http.StatusServiceUnavailable
	case !may.Status.Allowed:
		return http.StatusForbidden
	default:
		return http.StatusOK
	}
}

// extraOf is the same to the one interface as to the other.
func extraOf(extra map[string]authenticationv1.ExtraValue) map[string]authorizationv1.ExtraValue {
	all := make(map[string]authorizationv1.ExtraValue, len(extra))
	for key, values := range extra {
		all[key] = authorizationv1.ExtraValue(values)
	}
	return all
}

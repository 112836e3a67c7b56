package page

import (
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// contact says up to when a source knows everything.
type contact struct {
	now func() time.Time

	mu    sync.Mutex
	there bool
	until time.Time // where it is not there; zero: it never was
	wrong error     // why
}

// made notes that all is known from now on, until it is lost.
func (c *contact) made() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.there, c.wrong = true, nil
}

// lost notes that nothing is heard any more; err, where it is not nil, says why.
func (c *contact) lost(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.there {
		c.there, c.until = false, c.now()
	}
	if err != nil {
		c.wrong = err
	}
}

// asOf returns the time up to which everything is known, and what is in the way of the rest.
func (c *contact) asOf() (time.Time, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.there {
		return c.now(), nil
	}
	return c.until, c.wrong
}

// inTheWay says it to a person: of a namespace or, where that is empty, of all.
func inTheWay(namespace string, err error) string {
	switch {
	case err == nil:
		return ""
	case apierrors.IsForbidden(err) && namespace != "":
		return "The gateway may not read submissions in the namespace " + namespace + ": bind the ClusterRole taskonce-gateway-page to its service account there."
	case apierrors.IsForbidden(err):
		return "The gateway may not read submissions: bind the ClusterRole taskonce-gateway-page to its service account."
	case apierrors.IsUnauthorized(err):
		return "The API server does not know the gateway: look at its service account."
	default:
		return "The API server does not answer."
	}
}

package job

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/internal/effect"
)

// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=pods,verbs=list

// Options of the package.
type Options struct {
	// Client creates and patches Jobs, and reads Jobs and pods past any cache.
	Client client.Client
	// Cache reads Jobs as far as a watch has told of them. Their pod templates need not be there.
	Cache client.Reader
}

// New returns the compiler of Job effects.
func New(options Options) effect.Compiler {
	return (&compiler{options: options}).compile
}

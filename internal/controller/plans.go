package controller

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/taskonce/taskonce/api/v1alpha1"
	"github.com/taskonce/taskonce/internal/effect"
	"github.com/taskonce/taskonce/internal/plan"
)

// Plans holds the templates that were compiled, one generation of each.
type Plans struct {
	compilers effect.Compilers

	mu    sync.Mutex
	plans map[types.NamespacedName]*compiled
}

type compiled struct {
	uid        types.UID
	generation int64
	once       sync.Once
	plan       *plan.Plan
	faults     field.ErrorList
}

// NewPlans returns an empty store of plans.
func NewPlans(compilers effect.Compilers) *Plans {
	return &Plans{compilers: compilers, plans: map[types.NamespacedName]*compiled{}}
}

// For returns the plan of a template, or nil and what is wrong with it. It is compiled once for each generation.
func (p *Plans) For(template *v1alpha1.TaskTemplate) (*plan.Plan, field.ErrorList) {
	name := client.ObjectKeyFromObject(template)
	p.mu.Lock()
	entry := p.plans[name]
	if entry == nil || entry.uid != template.UID || entry.generation != template.Generation {
		entry = &compiled{uid: template.UID, generation: template.Generation}
		p.plans[name] = entry
	}
	p.mu.Unlock()
	entry.once.Do(func() {
		entry.plan, entry.faults = plan.Compile(template, p.compilers)
		if len(entry.faults) > 0 {
			entry.plan = nil
		}
	})
	return entry.plan, entry.faults
}

// Forget drops the plan of a template that is gone.
func (p *Plans) Forget(name types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.plans, name)
}

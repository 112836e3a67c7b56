package setting

import (
	"github.com/KimMachineGun/automemlimit/memlimit"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
)

// goMemory is the part of the container's memory limit that Go is to stay within. The rest is the kernel's: sockets, page
// tables.
const goMemory = 0.9

// LimitMemory has garbage collected in time for the container's memory limit, where there is one and GOMEMLIMIT says
// nothing else.
func LimitMemory(limit memlimit.Provider) {
	if _, err := memlimit.Set(memlimit.WithRatio(goMemory), memlimit.WithProvider(limit)); err != nil {
		logf.Log.V(1).Info("garbage is collected without regard to a memory limit", "why", err.Error())
	}
}

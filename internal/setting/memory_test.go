package setting

import (
	"errors"
	"math"
	"os"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

func TestMemoryIsLimited(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	none := func() (uint64, error) { return 0, memlimit.ErrNoLimit }
	unknown := func() (uint64, error) { return 0, errors.New("no cgroups here") }
	for _, tt := range []struct {
		limit       memlimit.Provider
		environment string
		want        int64
		reason      string
	}{
		{memlimit.Limit(1000 << 20), "", 900 << 20, "nine tenths of the container's limit"},
		{none, "", math.MaxInt64, "there is none"},
		{unknown, "", 700 << 20, "it is not known, so nothing changes"},
		{memlimit.Limit(1000 << 20), "700MiB", 700 << 20, "GOMEMLIMIT goes before it"},
	} {
		debug.SetMemoryLimit(700 << 20) // as the runtime does at its start where GOMEMLIMIT says so
		t.Setenv("GOMEMLIMIT", tt.environment)
		if tt.environment == "" {
			_ = os.Unsetenv("GOMEMLIMIT")
		}
		LimitMemory(tt.limit)
		if got := debug.SetMemoryLimit(-1); got != tt.want {
			t.Errorf("%d, want %d: %s", got, tt.want, tt.reason)
		}
	}
}

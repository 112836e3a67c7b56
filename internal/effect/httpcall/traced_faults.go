//go:build faults

package httpcall

import (
	"context"
	"net/http/httptrace"

	"github.com/taskonce/taskonce/internal/failpoint"
)

// traced has the process die, where it is told to, when a request was written as a whole.
func traced(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(info httptrace.WroteRequestInfo) {
		if info.Err == nil {
			failpoint.Here(failpoint.AfterRequest)
		}
	}})
}

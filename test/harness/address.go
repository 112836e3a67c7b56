package harness

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
)

// UnusedAddress returns an address on which nothing listens. Its port lies below those that systems give to outgoing
// connections, so that nobody takes it meanwhile.
func UnusedAddress() (string, error) {
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000))
		if listener, err := net.Listen("tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", fmt.Errorf("no free port was found between 20000 and 30000")
}

// Answers says whether anything but an error of the server comes back.
func Answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	return response.StatusCode < http.StatusInternalServerError
}

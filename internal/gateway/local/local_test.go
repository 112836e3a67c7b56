package local

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestWhoIsLocal(t *testing.T) {
	served := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	for host, local := range map[string]bool{
		"localhost": true, "localhost:8082": true, "127.0.0.1:8082": true, "127.1.2.3": true, "[::1]:8082": true, "[::1]": true,
		":8082": false, "0.0.0.0:8082": false, "10.0.0.1:8082": false, "[::]:8082": false, "localhost.example:8082": false, "evil.example": false, "127.0.0.1.example": false,
	} {
		if Host(host) != local {
			t.Errorf("%q is local: %v", host, !local)
		}
		want := http.StatusMisdirectedRequest
		if local {
			want = http.StatusOK
		}
		if got := asked(Only(served), host); got != want {
			t.Errorf("asked as %q it answers %d", host, got)
		}
	}
}

func asked(handler http.Handler, host string) int {
	request := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	request.Host = host
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer.Code
}

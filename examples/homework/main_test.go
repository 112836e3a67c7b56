package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestForeignPages get no token and book nothing, whatever name leads here.
func TestForeignPages(t *testing.T) {
	people, err := newIssuer("http://127.0.0.1:8088")
	if err != nil {
		t.Fatal(err)
	}
	server := routes(&options{}, people)
	for _, test := range []struct {
		method, target, origin string
		want                   int
	}{
		{"GET", "http://127.0.0.1:8088/token/teacher", "", http.StatusOK},
		{"GET", "http://foreign.example:8088/token/teacher", "", http.StatusMisdirectedRequest},
		{"POST", "http://127.0.0.1:8088/networks/1/student/receiver/plain/points", "http://foreign.example", http.StatusForbidden},
	} {
		request := httptest.NewRequest(test.method, test.target, http.NoBody)
		if test.origin != "" {
			request.Header.Set("Origin", test.origin)
		}
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, request)
		if answer.Code != test.want {
			t.Errorf("%s %s from %q: %d, want %d", test.method, test.target, test.origin, answer.Code, test.want)
		}
	}
}

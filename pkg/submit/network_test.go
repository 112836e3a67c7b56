package submit_test

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// cut sends the request and loses the answer.
func cut(_ *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
	response, err := send()
	if err != nil {
		return nil, err
	}
	response.Body.Close()
	return nil, io.ErrUnexpectedEOF
}

// silent sends the request and never answers.
func silent(request *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
	if response, err := send(); err == nil {
		response.Body.Close()
	}
	<-request.Context().Done()
	return nil, request.Context().Err()
}

// gateway sends the request and answers for the API server.
func gateway(code int) roundTrip {
	return func(request *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		if response, err := send(); err == nil {
			response.Body.Close()
		}
		return &http.Response{StatusCode: code, Request: request, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("upstream"))}, nil
	}
}

// instead answers without sending.
func instead(code int) roundTrip {
	return func(request *http.Request, _ func() (*http.Response, error)) (*http.Response, error) {
		return gateway(code)(request, func() (*http.Response, error) { return nil, io.EOF })
	}
}

// on has requests of a method go through other networks, one after the other; the rest are as they are.
func on(method string, networks ...roundTrip) roundTrip {
	var seen atomic.Int32
	return func(request *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		if request.Method == method {
			if n := int(seen.Add(1)); n <= len(networks) {
				return networks[n-1](request, send)
			}
		}
		return send()
	}
}

func both(a, b roundTrip) roundTrip {
	return func(request *http.Request, send func() (*http.Response, error)) (*http.Response, error) {
		return a(request, func() (*http.Response, error) { return b(request, send) })
	}
}

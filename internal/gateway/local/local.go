// Package local tells this machine, as it reaches itself, from all others.
package local

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Only serves whoever asks for this machine by its own name or address. A foreign page whose name leads here, by its owner's
// doing, is told nothing.
func Only(next http.Handler) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		if !Host(request.Host) {
			http.Error(writer, "ask for this page as localhost or 127.0.0.1", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(writer, request)
	})
}

// Host reports whether a host, with or without a port, is this machine to itself alone.
func Host(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && address.IsLoopback()
}

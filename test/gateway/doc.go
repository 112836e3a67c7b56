// Package gateway holds the tests of the HTTP gateway as a process, in front of a real API server, the real operator and
// a receiver that misbehaves.
package gateway

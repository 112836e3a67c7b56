// Package gateway is the HTTP interface for applications that do not speak to the Kubernetes API: submissions with the
// semantics of the IETF's Idempotency-Key draft. It keeps no state. What a key stands for, and what came of it, is in the
// API server, so any number of gateways answer alike, and one that is killed takes nothing with it.
package gateway

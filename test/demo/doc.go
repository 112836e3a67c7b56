// Command demo plays, on a real API server and with the real operator, what usually makes a side effect happen twice
// or get lost, and judges what came of it from the log of the receiver and from the API's objects alone.
//
//	go run ./test/demo                            every step; exits non-zero if any figure is not as said
//	go run ./test/demo --steps="late commit"      some of them, separated by commas
//	go run ./test/demo --fault=ignore-settle      with one rule switched off: the step that needs it turns red
//
// # Where to look
//
// steps.go lists the steps; each says what it plays and what must be seen. journal.go remembers what the API server
// told, evidence.go is what a verdict may rest on, verdict.go compares. templates/ has the templates, as anybody
// would write them.
package main

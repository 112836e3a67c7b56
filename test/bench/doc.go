// Command bench measures the straight path: what a submission costs that nothing goes wrong with. Beside it, in the
// same run and in turns, a bare client makes the same writes on objects of the same size, so that the ratio carries
// over from one machine to another, which the rates do not.
//
//	go run ./test/bench --quick              a minute; what `make bench-quick` runs
//	go run ./test/bench --json report.json   more and longer, with latency and a burst
//
// It exits non-zero where a submission took other requests than it should, or where an effect did not happen exactly
// once; never for being slow.
//
// # Where to look
//
// bench.go is the order of things, operator.go and bare.go are the two sides, requests.go is what the API server
// counted, verdict.go what must be so.
package main

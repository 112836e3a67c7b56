// Command bench measures what submissions cost. Whatever has another side is measured in pairs, in turns: beside the
// operator a bare client makes the same writes on objects of the same size, the Job controller does as many Jobs, or the
// same is done without what is looked at. So the ratios carry over from one machine to another, which the rates do not.
//
//	go run ./test/bench --quick                          rate and requests; what `make bench-quick` runs
//	go run ./test/bench --dir test/bench/measured        everything; `make bench` writes docs/scale.md from it
//	go run ./test/bench --dir test/bench/measured --keep what is missing there
//	go run ./test/bench --only=long                      memory after 100,000 carried out, which the others leave out
//
// It exits non-zero where something went another way than it should: a straight path with other requests, an effect
// that did not happen exactly once. Being slow is no fault; goals are met or missed in the report.
//
// # Where to look
//
// bench.go is the order of things; rate.go, ways.go, beside.go, webhook.go, peer.go, history.go, memory.go, long.go, gateway.go and
// together.go are the sections. load.go and bare.go are the two sides, requests.go is what the API server counted, verdict.go what
// must be so. Package report has what follows from the samples.
package main

// Command chaos breaks everything around the operator, for a while and by a seed, and then counts the effects.
//
//	go run ./test/chaos --seed 7 --duration 60s
//
// Two replicas of the real manager work on a real API server: half of the time one leads, half of the time both are
// active. Clients submit, read, delete, re-create and decide; a receiver loses requests and answers; processes are
// killed, at random and at every failpoint, or stopped; the API server is killed, etcd is paused, watches are cut, and
// answers are lost. Then everything is left in peace until nothing moves, and the receiver's log and the API's objects
// must agree with the promise. A run ends only when each kind of fault has happened.
//
// # What a seed fixes
//
// What each client does, which faults come in what order, and what the receiver makes of the nth call of a key. It
// cannot fix how the processes are scheduled: a story is replayed in its moves, not in its microseconds.
//
// # Where to look
//
// receiver.go and move.go are the world that the effects are for; client.go, remove.go and decision.go are people and
// programs. fault.go, wire.go and replica.go disturb the operator, in the order of disturb.go. quiet.go waits, verdict.go
// and leak.go judge, and model.go and linear.go say what the clients may see of one key.
package main

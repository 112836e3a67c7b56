// Package httpcall is the effect that is one HTTP request. It sends a request at most once for each attempt, never
// after the attempt's deadline, and says of every end what is certain: an answer is classified by the template's
// rules and the table of classify.go, and without a full answer only the bytes on the wire decide whether nothing
// was sent (NotApplied) or something may have been (Unknown).
//
//	compile.go   from a template to a call, and what is wrong with the template
//	request.go   what is sent
//	gate.go      whether it may still be sent, and whether anything was
//	dial.go      to which addresses
//	client.go    over which connections
//	exchange.go  one request and its full answer
//	failure.go   what is said where there is none
//	classify.go  what an answer means
//	result.go    what is kept of it
//	execute.go, verify.go, poll.go   the three questions of package effect
package httpcall

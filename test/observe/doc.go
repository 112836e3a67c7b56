// Command observe shows that what can be seen of the operator is true. It runs the real operator under a load whose
// outcome is known, with clients that retry, clients that write at the same time, and a receiver that is slow, loses
// answers and refuses; has the real Prometheus scrape it, judge the alerts and answer every query of the dashboard; and
// compares each counter and each panel with what the receiver's log, the clients' history and the API server's own
// account say.
//
//	go run ./test/observe --picture docs/dashboard.svg
package main

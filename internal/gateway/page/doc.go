// Package page is what the gateway shows to people: what waits for one of them, what is in process, and what came of the rest
// within the last hour. It reads, and changes nothing. Of a submission it keeps no parameters, no result and no message, since
// these may be secret; and of what has finished it keeps counts, and the last few.
package page

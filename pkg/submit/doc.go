// Package submit is a client that submits one business action, once, however badly the network behaves.
//
// A submission is in one of four states:
//
//	Idle        nothing was sent, or all that was sent was certainly refused
//	Submitting  a request is under way
//	Unknown     an answer was lost: it may have been created
//	Submitted   it is there, and who created it is known
//
// What makes this safe is the key. The submission's name is computed from it, so the same action is the same object,
// and sending it again creates nothing twice. Hence the key is all the state there is: a process that was restarted
// prepares the same Action again and submits it, and finds what it, or anybody else, created before.
//
// A create that was not answered (a time-out, a cut connection, a 5xx) and an AlreadyExists are both doubts: the object
// is read back and compared. The answer is First where this very Submission created it, Duplicate where somebody else
// did, and an *OtherPayloadError where the key belongs to another action.
package submit

// Package job is the effect that is a Kubernetes Job: one pod, run to its end, once.
//
// A Job is made suspended, so that nothing runs when it is made. Only when the record says that it is there is it let
// go on. So a create that arrives late, or whose answer is lost, causes nothing; a Job that is not there although the
// record never knew of it certainly never ran; and one that the record knew of and that is gone may have run. Its name
// is made of the submission's and a number that stays until the Job was seen finished: the API server refuses the
// second one.
//
//	compile.go    from a template to an effect, and what is wrong with the template
//	refuse.go     what a template may not say, because it would run twice or be forgotten
//	text.go       where expressions may stand, and what they come to
//	build.go      the Job of an attempt
//	execute.go    makes it
//	look.go       what became of it, and letting it go on: the two questions of package effect
//	end.go        what a finished Job says: result, exit codes
//	follow.go     what the cache tells of it
//	dispose.go    its removal with the submission
package job

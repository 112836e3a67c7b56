package report

import "fmt"

// why says, of a goal that is missed, what its samples and profiles show.
func (r Results) why(text string) string {
	spent := func(kind, side string, of func(Sample) float64) string {
		return ms(r.Median(SectionRate, kind, side, of))
	}
	// shared says who has what of the processors, whatever else there is to say.
	shared := func(kind string) string {
		return fmt.Sprintf("The manager has %s: JSON and HTTP/2 of its three writes, the watch of submissions, and the effect's request over a connection "+
			"of its own, so that nothing sends it twice. The API server has %s in place of %s: it tells two watchers of each change, the operator and the "+
			"client that waits for the Success, and the bare client waits for nothing.",
			spent(kind, Operator, CPUOf(Manager)), spent(kind, Operator, CPUOf(APIServer)), spent(kind, Bare, CPUOf(APIServer))) + r.whatProfilesSay(SectionRate, kind, Operator, Bare)
	}
	crowd := func(side, program string) string {
		return ms(r.Median(SectionStampede, Stampede, side, CPUOf(program)))
	}
	switch text {
	case goalSaturated:
		return fmt.Sprintf("The processors are used up here, too: one submission takes %s of them, the same writes of the bare client %s, which has 256 of them under way, "+
			"and the operator those of 32 workers. More workers, or a template that lets 256 attempts run, were tried, and did not help. ",
			spent(Saturated, Operator, CPUOfAll), spent(Saturated, Bare, CPUOfAll)) + shared(Saturated)
	case goalBusy:
		return fmt.Sprintf("Both sides use the processors up. One submission takes %s of them, the same writes of the bare client %s. ",
			spent(Busy, Operator, CPUOfAll), spent(Busy, Bare, CPUOfAll)) + shared(Busy)
	case goalStampede:
		return fmt.Sprintf("Admission sees each create before the API server refuses it: the call of the webhook is what a duplicate "+
			"costs more than a create of a kind without webhooks. It buys the answer: what the key was used for, and what differs. For that the manager reads the record %s times a second, "+
			"and takes %s for each of the others and the duplicates that come with it, in place of %s. A create with the webhooks costs %s times the manager's processor time.",
			number(r.Median(SectionStampede, Stampede, Duplicate, recordReads)), crowd(Duplicate, Manager), crowd(Refused, Manager),
			number(r.Ratio(SectionWebhook, Busy, With, Without, CPUOf(Manager)))) + r.whatProfilesSay(SectionStampede, Stampede, Duplicate, Refused)
	case goalUnseen:
		return fmt.Sprintf("No webhook is called for these, and the manager takes %s for each of the others, in place of %s. What is left is the API server's: %s for each of the others "+
			"and the creates that are refused meanwhile, in place of %s. It asks of a kind that policies and webhooks name whether they are for this create, and evaluates "+
			"the policies; a kind that none of them names has none to pay for. How much each of these takes was not measured apart.",
			crowd(Unseen, Manager), crowd(Refused, Manager), crowd(Unseen, APIServer), crowd(Refused, APIServer)) + r.whatProfilesSay(SectionStampede, Stampede, Unseen, Refused)
	case goalSlow:
		return "What goes on beside it is in the table of a fast receiver and a slow one."
	case goalWorked:
		return fmt.Sprintf("Resident memory is also what the Go runtime has not given back to the system: what the heap holds is %s after work, and %s when idle.",
			mib(r.afterWork(LiveMiB).median), mib(r.beforeWork(LiveMiB).median))
	case goalJobsCPU:
		return fmt.Sprintf("What is said of the rate: %s writes of a Job, and %s of a submission, each of which is dearer.",
			number(r.Median(SectionPeer, AtOnce, Jobs, Each(landed))), number(r.Median(SectionPeer, AtOnce, Operator, Each(landed))))
	case goalJobs:
		one := func(side string) string {
			return ms(r.Median(SectionPeer, AtOnce, side, func(s Sample) float64 { return CPUOf(APIServer)(s) / Each(landed)(s) }))
		}
		return fmt.Sprintf("A Job takes more writes, and a submission dearer ones: the API server takes %s for one of a custom resource, which it decodes without a type, "+
			"prunes, and checks by schema and rules, and %s for one of a kind of its own.", one(Operator), one(Jobs)) + r.whatProfilesSay(SectionPeer, AtOnce, Operator, Jobs)
	case goalRecovery:
		return fmt.Sprintf("An orphan takes more writes than a submission, %s in place of %s, and %s creates that are refused: that its attempt is in doubt is stored and said, then the next attempt is "+
			"stored and carried out as any other. The time-out and the grace are over for all of them at once, so that all of these writes wait for each other. The API server takes %s for each.",
			number(r.Median(SectionHistory, Lost, Operator, Each(operatorWrite))), number(r.Median(SectionWays, Straight, Operator, Each(operatorWrite))),
			number(r.Median(SectionHistory, Lost, Operator, Each(operatorRefused))), ms(r.Median(SectionHistory, Lost, Operator, CPUOf(APIServer))))
	case goalManager:
		return "The manager's profile is JSON, HTTP/2 and garbage collection of three writes."
	default:
		return "`make bench BENCH='--profiles=FOLDER'` keeps the profiles that say where the time goes."
	}
}

// recordReads is how often a second the record of the duplicates is read. One of each other submission is read, too.
func recordReads(s Sample) float64 {
	reads := s.Requested(func(c Count) bool { return c.Verb == "GET" && c.Resource == "taskrecords" })
	return (reads - float64(s.Submissions)) / s.Seconds
}

package report

import "fmt"

// why says, of a goal that is missed, what the profiles showed that `--profile` takes, with the figures of the samples.
func (r Results) why(text string) string {
	busy := func(side string, of func(Sample) float64) string { return ms(r.Median(SectionRate, Busy, side, of)) }
	switch text {
	case goalSaturated:
		return "With so many writes under way etcd and the API server take less for each of the bare client's, which has 256 of them; " +
			"the operator has those of 32 workers. More workers, or a template that lets 256 attempts run, were tried, and did not help: the processors are used up. " +
			"What the manager has is what is said for 32 clients."
	case goalBusy:
		return fmt.Sprintf("Both sides use the processors up. One submission takes %s of them, the same writes of the bare client %s. The manager has %s: "+
			"JSON and HTTP/2 of its three writes, the watch of submissions, and the effect's request over a connection of its own, so "+
			"that nothing sends it twice. The API server has %s in place of %s: it tells two watchers of each change, the operator and the client that waits for "+
			"the Success, and the bare client waits for nothing.",
			busy(Operator, CPUOfAll), busy(Bare, CPUOfAll), busy(Operator, CPUOf(Manager)), busy(Operator, CPUOf(APIServer)), busy(Bare, CPUOf(APIServer)))
	case goalStampede:
		return fmt.Sprintf("Admission sees each create before the API server refuses it: the call of the webhook is what a duplicate "+
			"costs more than a create of a kind without webhooks; its record is read once a second. It buys the answer: what the key was used for, and what differs. Without the webhooks a "+
			"duplicate is a refused create like any other; with them a create costs %s times the manager's processor time.",
			number(r.Ratio(SectionWebhook, Busy, With, Without, CPUOf(Manager))))
	case goalUnseen:
		return "The policies in the API server see them all the same: they say who may state on whose behalf a submission is. A kind without policies has none to pay for."
	case goalWorked:
		return fmt.Sprintf("Resident memory is also what the Go runtime has not given back to the system: what the heap holds is %s after work, and %s when idle.",
			mib(r.afterWork(LiveMiB)), mib(r.beforeWork(LiveMiB)))
	case goalJobs, goalJobsCPU:
		one := func(side string) string {
			return ms(r.Median(SectionPeer, AtOnce, side, func(s Sample) float64 { return CPUOf(APIServer)(s) / Each(landed)(s) }))
		}
		return fmt.Sprintf("A Job takes more writes, and a submission dearer ones: the API server takes %s for one of a custom resource, which it decodes without a type, "+
			"prunes, and checks by schema and rules, and %s for one of a kind of its own.", one(Operator), one(Jobs))
	case goalRecovery:
		return fmt.Sprintf("An orphan takes more writes than a submission, %s in place of %s: that its attempt is in doubt is stored and said, then the next attempt is "+
			"stored and carried out as any other. The time-out and the grace are over for all of them at once, so that all of these writes wait for each other.",
			number(r.Median(SectionHistory, Lost, Operator, Each(operatorWrite))), number(r.Median(SectionWays, Straight, Operator, Each(operatorWrite))))
	case goalManager:
		return "The manager's profile is JSON, HTTP/2 and garbage collection of three writes."
	default:
		return "`make bench BENCH='--profile=tmp'` takes the profile of the API server that says where it goes."
	}
}

package controller

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// seed is a rule that is switched off, in a world where that breaks the named invariant. A model that does not find it
// would prove nothing.
type seed struct {
	hazard int // the row of docs/guarantees.md; 0: none
	scenario
	breaks string
}

func (s *seed) title() string {
	if s.hazard == 0 {
		return "rule/" + s.name
	}
	return fmt.Sprintf("hazard-%02d/%s", s.hazard, s.name)
}

var seeded = []seed{
	{1, scenario{
		name: "a holder that is gone frees its business key", processes: 1, keys: 2, businessKey: true, until: tick,
		budget: budget{Forget: 1}, faults: faults{decide: absenceIsAGround},
	}, "I7"},
	{1, scenario{
		name: "effect before claim", processes: 1, keys: 2, businessKey: true,
		faults: faults{decide: effectBeforeClaim},
	}, "I7"},
	{1, scenario{
		name: "effect before record", processes: 1,
		faults: faults{sendsBeforeRecord: true},
	}, "I2"},
	{2, scenario{
		name: "a Retry does not write its claim again", processes: 2, apart: true, keys: 2, businessKey: true, refuses: forGood,
		budget: budget{Refuse: 1, Retry: 1}, faults: faults{decide: oldClaimCounts},
	}, "I7"},
	{2, scenario{
		name: "what has failed lets its claim go", processes: 2, keys: 2, businessKey: true, refuses: forGood,
		budget: budget{Refuse: 1, Retry: 1}, faults: faults{decide: failedLetsGo, noPreconditions: true},
	}, "I7"},
	{3, scenario{
		name: "a later refusal settles an earlier attempt", processes: 1, receiver: idempotent, refuses: forGood, maxChecks: 2, until: 3 * tick,
		budget: budget{LoseReply: 1, Refuse: 1}, faults: faults{decide: refusalSettles},
	}, "I5"},
	{4, scenario{
		name: "settleAfter is ignored", processes: 1, receiver: answering, until: 4 * tick,
		budget: budget{LoseReply: 1}, faults: faults{off: offSettleAfter},
	}, "I4"},
	{5, scenario{
		name: "an orphan is not waited for", processes: 2, businessKey: true,
		faults: faults{off: offOrphanWait},
	}, "I4"},
	{5, scenario{
		name: "the clock is not compared right before sending", processes: 2, receiver: answering, until: 2 * tick,
		faults: faults{sendsLate: true},
	}, "I4"},
	{8, scenario{
		name: "mine, so it is run", processes: 1,
		budget: budget{LoseAnswer: 1}, faults: faults{decide: mineSoRunIt},
	}, "I2"},
	{8, scenario{
		name: "mine, so it is waited for", processes: 1,
		budget: budget{LoseAnswer: 1}, faults: faults{decide: mineSoWait},
	}, "I9"},
	{9, scenario{
		name: "a verdict is written to status only", processes: 2,
		budget: budget{Cancel: 1}, faults: faults{decide: verdictInStatus},
	}, "I5"},
	{10, scenario{
		name: "the template is looked at before the record", processes: 1,
		budget: budget{Delete: 1, Recreate: 1, Withdraw: 1}, faults: faults{decide: gateFirst},
	}, "I9"},
	{11, scenario{
		name: "the sweep deletes by name", processes: 2, recordTTL: 2 * tick, until: 2 * tick,
		budget: budget{Delete: 2, Recreate: 1}, faults: faults{noPreconditions: true},
	}, "I8"},
	{11, scenario{
		name: "a replay does not renew", processes: 1, recordTTL: 2 * tick, until: 3 * tick,
		budget: budget{Delete: 2, Recreate: 1}, faults: faults{decide: replayDoesNotRenew},
	}, "I8"},
	{12, scenario{
		name: "the effect's digest is ignored", processes: 1, receiver: answering, until: 3 * tick,
		budget: budget{LoseReply: 1, Edit: 1}, faults: faults{decide: digestIgnored},
	}, "I4"},
	{12, scenario{
		name: "an approval is of any effect", processes: 1, approval: true,
		budget: budget{Approve: 1, Edit: 1}, faults: faults{decide: approvalOfAnything},
	}, "approval"},
	{13, scenario{
		name: "unsettled records carry no due time", processes: 1, receiver: answering,
		budget: budget{Delete: 1, Kill: 1}, faults: faults{dropsDue: true},
	}, "I9"},
	{16, scenario{
		name: "a late success of an earlier attempt is dropped", processes: 2, receiver: idempotent, until: 2 * tick,
		budget: budget{LoseReply: 1}, faults: faults{decide: lateSuccessDropped},
	}, "I9"},
	{17, scenario{
		name: "a receiver is thought to remember for ever", processes: 1, receiver: idempotent, remembers: 3 * tick, maxChecks: 2, until: 4 * tick,
		budget: budget{LoseReply: 1}, faults: faults{decide: rememberedForEver},
	}, "I4"},
	{18, scenario{
		name: "a release deletes by name", processes: 2, keys: 2, businessKey: true,
		budget: budget{Releases: 1}, faults: faults{noPreconditions: true},
	}, "I7"},
	{19, scenario{
		name: "a status that speaks of attempts is not believed", processes: 1, receiver: answering, until: tick,
		budget: budget{Forget: 1, Kill: 1}, faults: faults{decide: statusIgnored},
	}, "I4"},
	{21, scenario{
		name: "a Retry counts as an approval", processes: 1, approval: true,
		budget: budget{Cancel: 1, Retry: 1}, faults: faults{decide: retryApproves},
	}, "approval"},
	{22, scenario{
		name: "a restored record is believed", processes: 1, receiver: answering, maxAttempts: 2, until: 2 * tick,
		budget: budget{Refuse: 1, Backup: 1, Restore: 1}, faults: faults{decide: restoredIsBelieved},
	}, "I4"},
	{22, scenario{
		name: "a first attempt whose claim was not in the backup was never sent", processes: 1, receiver: answering, businessKey: true, until: 3 * tick,
		budget: budget{Backup: 1, Restore: 1}, faults: faults{decide: firstWasNotSent},
	}, "I4"},
	{24, scenario{
		name: "an attempt begins for what is being deleted", processes: 1,
		budget: budget{Terminate: 1}, faults: faults{decide: deletionIgnored},
	}, "deletion"},
	{25, scenario{
		name: "a duplicate is not told that its parameters differ", processes: 1, keys: 2, businessKey: true,
		faults: faults{decide: differenceUntold},
	}, "I6"},
	{26, scenario{
		name: "a result that is refused blocks its phase", processes: 1, receiver: answering, smallRecords: true,
		faults: faults{givesUp: true},
	}, "I9"},
	{27, scenario{
		name: "whether a submission exists is read from the cache", processes: 1, recordTTL: tick, until: tick,
		faults: faults{asksTheCache: true},
	}, "I8"},
	{0, scenario{
		name: "a write that failed counts as done", processes: 1,
		budget: budget{LoseWrite: 1}, faults: faults{trustsLostWrites: true},
	}, "I2"},
	{0, scenario{
		name: "no compare-and-swap on a later attempt", processes: 2, maxAttempts: 2, until: tick,
		budget: budget{Refuse: 1}, faults: faults{noCompareAndSwap: true},
	}, "I3"},
	{0, scenario{
		name: "what nobody can find out fails", processes: 1,
		budget: budget{LoseReply: 1}, faults: faults{decide: unknownFails},
	}, "I5"},
	{0, scenario{
		name: "whether it is done is read from status instead of the record", processes: 1,
		faults: faults{decide: statusDecides},
	}, "I5"},
	{0, scenario{
		name: "a decision about an old attempt is accepted", processes: 1, receiver: idempotent, maxChecks: 2, until: tick,
		budget: budget{Refuse: 1, LoseReply: 2, ConfirmNot: 1}, faults: faults{decide: oldDecisionCounts},
	}, "I5"},
	{0, scenario{
		name: "a person's word is believed of what is under way, and could be kept from happening", processes: 1, receiver: transactional,
		budget: budget{LoseReply: 1, ConfirmNot: 1}, faults: faults{decide: wordIsBelieved},
	}, "I5"},
	{0, scenario{
		name: "notBefore is ignored", processes: 1, notBefore: tick, until: tick,
		faults: faults{decide: notBeforeIgnored},
	}, "notBefore"},
	{0, scenario{
		name: "notAfter is ignored", processes: 1, notAfter: tick, until: tick,
		faults: faults{decide: notAfterIgnored},
	}, "notAfter"},
	{0, scenario{
		name: "what waits for its business key has begun", processes: 1, keys: 2, businessKey: true, notAfter: tick, refuses: forGood, until: tick,
		budget: budget{Refuse: 1}, faults: faults{decide: heldHasBegun},
	}, "notAfter"},
	{0, scenario{
		name: "suspension is ignored", processes: 1,
		budget: budget{Suspend: 1}, faults: faults{decide: suspensionIgnored},
	}, "suspension"},
	{0, scenario{
		name: "suspension stops what has begun", processes: 1, refuses: forNow, maxAttempts: 2, until: tick,
		budget: budget{Suspend: 1, Refuse: 1}, faults: faults{decide: suspensionStops},
	}, "I9"},
	{0, scenario{
		name: "what is in doubt expires", processes: 1, recordTTL: tick, until: tick,
		budget: budget{Delete: 1, LoseReply: 1}, faults: faults{decide: doubtExpires},
	}, "I8"},
}

func TestSeededFaults(t *testing.T) {
	summary := newSummary(t, "rule that is off\tbreaks\tstates\tsteps of the story")
	for _, s := range seeded {
		t.Run(s.title(), func(t *testing.T) {
			t.Parallel()
			found := explore(s.ready(), mostStates)
			switch broken := found.broken; {
			case broken == nil:
				t.Fatalf("%d states hold with the rule switched off; want a counterexample to %s", found.states, s.breaks)
			case !strings.HasPrefix(broken.broken, s.breaks+":"):
				t.Fatalf("want %s to be broken, and it is %s", s.breaks, broken.counterexample())
			default:
				t.Log(broken.counterexample())
				summary.add(found.states, "%s\t%s\t%d\t%d", s.title(), s.breaks, found.states, len(broken.told()))
			}
		})
	}
}

// TestEachRowNamesItsSeededFault holds the table of docs/guarantees.md against the seeds.
func TestEachRowNamesItsSeededFault(t *testing.T) {
	page, err := os.ReadFile("../../docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \|.*TestSeededFaults/hazard-(\d+)`).FindAllStringSubmatch(string(page), -1) {
		if number, _ := strconv.Atoi(row[1]); fmt.Sprintf("%02d", number) != row[2] {
			t.Errorf("row %s names the seeded fault of row %s", row[1], row[2])
		}
		named["hazard-"+row[2]] = true
	}
	sown := map[string]bool{}
	for _, s := range seeded {
		if s.hazard > 0 {
			sown[strings.Split(s.title(), "/")[0]] = true
		}
	}
	if !maps.Equal(named, sown) {
		t.Errorf("the page names %v, and seeded are %v", sorted(named), sorted(sown))
	}
}

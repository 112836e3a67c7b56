package controller

// proof is a world that is explored whole. The number of states is part of what is asserted: a space that shrinks
// unseen proves less.
type proof struct {
	scenario
	states int
}

// quick is what make test explores.
var quick = []proof{
	{scenario{
		name: "an answering receiver, and a lost reply", processes: 1, receiver: answering, until: 4 * tick,
		budget: budget{LoseReply: 1},
	}, 25947},
	{scenario{
		name: "an answering receiver, and a kill", processes: 1, receiver: answering, until: 4 * tick,
		budget: budget{Kill: 1},
	}, 55642},
	{scenario{
		name: "a plain receiver, a kill, a lost reply and a lost acknowledgement", processes: 1, receiver: plain, until: 3 * tick,
		budget: budget{Kill: 1, LoseReply: 1, LoseAnswer: 1},
	}, 16908},
	{scenario{
		name: "an idempotent receiver, a lost reply and a refusal", processes: 1, receiver: idempotent, refuses: forGood, maxChecks: 2, until: 3 * tick,
		budget: budget{LoseReply: 1, Refuse: 1},
	}, 12443},
	{scenario{
		name: "an idempotent receiver that forgets, and a lost reply", processes: 1, receiver: idempotent, remembers: 3 * tick, until: 3 * tick,
		budget: budget{LoseReply: 1},
	}, 1800},
	{scenario{
		name: "a transactional receiver, a lost reply and one that cannot tell", processes: 1, receiver: transactional, maxChecks: 2, until: 3 * tick,
		budget: budget{LoseReply: 1, CannotTell: 1},
	}, 16227},
	{scenario{
		name: "two operators with stale caches", processes: 2, stale: true, until: tick,
	}, 15310},
	{scenario{
		name: "two operators with stale caches, and a cancellation", processes: 2, stale: true,
		budget: budget{Cancel: 1},
	}, 76922},
	{scenario{
		name: "two operators with stale caches, and an edited template", processes: 2, stale: true,
		budget: budget{Edit: 1},
	}, 4287},
	{scenario{
		name: "two operators, and a begin that is lost or whose answer is", processes: 2,
		budget: budget{LoseAnswer: 1, LoseWrite: 1},
	}, 2996},
	{scenario{
		name: "two operators and a refusal", processes: 2, maxAttempts: 2, until: tick,
		budget: budget{Refuse: 1},
	}, 4068},
	{scenario{
		name: "two operators, refused and retried", processes: 2, refuses: forGood,
		budget: budget{Refuse: 1, Retry: 1},
	}, 3342},
	{scenario{
		name: "two operators, two keys and one business key", processes: 2, keys: 2, businessKey: true,
	}, 24991},
	{scenario{
		name: "two operators, two keys and one business key: refused, and retried", processes: 2, apart: true, keys: 2, businessKey: true, refuses: forGood,
		budget: budget{Refuse: 1, Retry: 1},
	}, 1961},
	{scenario{
		name: "two operators, two keys and one business key, given free", processes: 2, apart: true, keys: 2, businessKey: true,
		budget: budget{Releases: 1, Kill: 1},
	}, 6009},
	{scenario{
		name: "two operators with stale caches, and a kill", processes: 2, stale: true,
		budget: budget{Kill: 1},
	}, 2934},
	{scenario{
		name: "two operators: expired, and applied again", processes: 2, recordTTL: tick, until: tick,
		budget: budget{Delete: 1, Recreate: 1},
	}, 28137},
	{scenario{
		name: "two keys and one business key: refused, and retried", processes: 1, keys: 2, businessKey: true, refuses: forGood,
		budget: budget{Refuse: 1, Retry: 1},
	}, 941},
	{scenario{
		name: "two keys and one business key: a record is deleted by hand", processes: 1, keys: 2, businessKey: true, until: tick,
		budget: budget{Forget: 1},
	}, 6536},
	{scenario{
		name: "two keys and one business key, given free", processes: 1, keys: 2, businessKey: true,
		budget: budget{Releases: 1, Kill: 1},
	}, 2366},
	{scenario{
		name: "deleted and applied again, with the same and with another payload", processes: 1,
		budget: budget{Delete: 2, Recreate: 1, Reuse: 1},
	}, 335},
	{scenario{
		name: "deleted in flight, and a kill", processes: 1, receiver: answering, until: 3 * tick,
		budget: budget{Delete: 1, Kill: 1},
	}, 20216},
	{scenario{
		name: "a begin that is lost or whose answer is, and deleted", processes: 1, until: tick,
		budget: budget{LoseWrite: 1, LoseAnswer: 1, Delete: 1},
	}, 1220},
	{scenario{
		name: "an outcome that is not stored, and deleted with its record", processes: 1, until: tick,
		budget: budget{LoseWrite: 1, Delete: 1, Forget: 1},
	}, 750},
	{scenario{
		name: "deleted slowly, and applied again", processes: 2,
		budget: budget{Terminate: 1, Delete: 1, Recreate: 1},
	}, 5133},
	{scenario{
		name: "applied again when the template is gone", processes: 1, receiver: answering, until: tick,
		budget: budget{Delete: 1, Recreate: 1, Withdraw: 1},
	}, 2152},
	{scenario{
		name: "expired, and applied again", processes: 1, recordTTL: 2 * tick, until: 3 * tick,
		budget: budget{Delete: 2, Recreate: 1},
	}, 7588},
	{scenario{
		name: "a lost reply, and the template is edited", processes: 1, receiver: answering, until: 3 * tick,
		budget: budget{LoseReply: 1, Edit: 1},
	}, 30613},
	{scenario{
		name: "cancelled, refused and retried", processes: 1, refuses: forGood, until: tick,
		budget: budget{Cancel: 1, Refuse: 1, Retry: 1},
	}, 3438},
	{scenario{
		name: "unknown, and confirmed by a person", processes: 1, until: tick,
		budget: budget{LoseReply: 1, ConfirmApplied: 1, ConfirmNot: 1, Retry: 1},
	}, 247},
	{scenario{
		name: "verified, and judged by a person meanwhile", processes: 1, receiver: idempotent, maxChecks: 2, until: 2 * tick,
		budget: budget{Refuse: 1, LoseReply: 2, ConfirmNot: 1},
	}, 5534},
	{scenario{
		name: "a transactional receiver, and a person who takes what is under way for not applied", processes: 1, receiver: transactional, until: 2 * tick,
		budget: budget{LoseReply: 1, CannotTell: 1, ConfirmNot: 1},
	}, 14245},
	{scenario{
		name: "approved, and the template is edited", processes: 1, approval: true, refuses: forNow, maxAttempts: 2, until: tick,
		budget: budget{Approve: 2, Edit: 1, Refuse: 1},
	}, 7509},
	{scenario{
		name: "cancelled before its approval, and retried", processes: 1, approval: true,
		budget: budget{Approve: 1, Cancel: 1, Retry: 1},
	}, 323},
	{scenario{
		name: "restored from a backup", processes: 1, receiver: answering, maxAttempts: 2, until: 3 * tick,
		budget: budget{Refuse: 1, Backup: 1, Restore: 1},
	}, 89201},
	{scenario{
		name: "restored from a backup, with or without the claim", processes: 1, receiver: answering, businessKey: true, until: 3 * tick,
		budget: budget{Backup: 1, Restore: 1},
	}, 28374},
	{scenario{
		name: "a record that is deleted by hand, and a kill", processes: 1, receiver: answering, until: 3 * tick,
		budget: budget{Forget: 1, Kill: 1},
	}, 49939},
	{scenario{
		name: "not before one time and not after another, and a kill", processes: 1, receiver: answering, notBefore: tick, notAfter: 2 * tick, until: 2 * tick,
		budget: budget{Kill: 1, LoseAnswer: 1},
	}, 2753},
	{scenario{
		name: "two operators with stale caches, and a time that ends", processes: 2, stale: true, notAfter: tick, until: tick,
	}, 13069},
	{scenario{
		name: "two keys and one business key, whose time ends while one holds it", processes: 1, keys: 2, businessKey: true, notAfter: tick, refuses: forGood, until: tick,
		budget: budget{Refuse: 1, LoseReply: 1},
	}, 3744},
	{scenario{
		name: "suspended and resumed, and a refusal", processes: 1, maxAttempts: 2, until: tick,
		budget: budget{Suspend: 1, Resume: 1, Refuse: 1, LoseAnswer: 1},
	}, 1700},
	{scenario{
		name: "two operators with stale caches, and a suspension", processes: 2, stale: true,
		budget: budget{Suspend: 1},
	}, 2330},
	{scenario{
		name: "suspended, cancelled and retried", processes: 1,
		budget: budget{Suspend: 1, Resume: 1, Cancel: 1, Retry: 1},
	}, 323},
	{scenario{
		name: "suspended until its time is over", processes: 1, notAfter: tick, until: 2 * tick,
		budget: budget{Suspend: 1, Resume: 1, Delete: 1, Recreate: 1},
	}, 4294},
	{scenario{
		name: "a result that the API server does not take", processes: 1, receiver: answering, smallRecords: true, until: 3 * tick,
		budget: budget{LoseReply: 1},
	}, 7877},
}

// deeper is what make prove explores besides: more goes wrong at once.
var deeper = []proof{
	{scenario{
		name: "an answering receiver, a kill and a lost reply", processes: 1, receiver: answering, until: 3 * tick,
		budget: budget{Kill: 1, LoseReply: 1},
	}, 41955},
	{scenario{
		name: "a transactional receiver, a kill and a lost reply", processes: 1, receiver: transactional, until: 3 * tick,
		budget: budget{Kill: 1, LoseReply: 1},
	}, 41955},
	{scenario{
		name: "a plain receiver, two kills, and everything lost once", processes: 1, receiver: plain, until: 3 * tick,
		budget: budget{Kill: 2, LoseReply: 1, LoseAnswer: 1, LoseWrite: 1},
	}, 122982},
	{scenario{
		name: "expired, and applied again with another payload", processes: 1, recordTTL: 2 * tick, until: 5 * tick,
		budget: budget{Delete: 2, Recreate: 1, Reuse: 1},
	}, 217319},
	{scenario{
		name: "two operators, a transactional receiver, and a person who takes what is under way for not applied", processes: 2, receiver: transactional, until: tick,
		budget: budget{LoseReply: 1, ConfirmNot: 1},
	}, 230496},
}

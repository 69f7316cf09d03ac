package store

const (
	// Schema is the version of what is stored, shown by server_info.
	Schema = 1
	// MinReader is the oldest schema whose coordinators understand what this one
	// stores. It rises a release after Schema, so that the two versions of a
	// rolling upgrade work beside each other, and the way back is open.
	MinReader = 1
)

// Store keeps everything. Each method is one atomic step: it happens whole or
// not at all, and an error means that nothing changed, unless its code is
// UNKNOWN_OUTCOME. Methods that write are idempotent by id or key, so a caller
// may repeat them. Methods under "reads" never write.
//
// Time: a store stamps with its own clock (Redis TIME; for tests a clock that
// was passed in when the store was opened) and reports the time it used.
// Lifetimes are counted in lived seconds, which only Tick advances.
type Store interface {
	agentStore
	presenceStore
	messageStore
	fileStore
	ticketStore
	noticeStore
	queueStore
	roomStore
	flowStore
	reaperStore
	retirementStore
	leaseStore
	renameStore
	letterStore
	eventStore
}

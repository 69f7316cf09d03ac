// Package faultrig breaks real processes on purpose and keeps the books while
// it does. It is for tests only, and any test may use it:
//
//   - Start runs coordinators from a freshly built binary; they can be killed,
//     stopped, frozen, thawed and restarted on their port.
//   - Powered is a Redis whose power can be cut: what it had not synced is gone.
//     Clocked is one whose clock can be moved. Disk is one that can be full.
//     Freeze stops any process for a while.
//   - Previous is the binary of the version before this one.
//   - Proxy stands between two of them and delays, cuts, resets, goes silent, or loses
//     the answer to a request that was carried out.
//   - Network is hosts whose cables can be pulled; Balancer stands before
//     coordinators, on these or elsewhere.
//   - Recorder writes down every call and how it ended; Check reads that in one
//     pass and says what was lost, doubled, invented or out of order.
//   - Tally does so while a run goes on that is too long to be written down.
//   - Verdict is what a test did and found: a row of the table of make torture.
//   - Hold, Size, Torture and Within are how every test on real processes takes its
//     measure: a figure beside its limit, the short and the long form, and waiting.
package faultrig

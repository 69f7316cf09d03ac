package faultrig

import "bytes"

// A failpoint is a place in the middle of an operation where its caller dies, as
// seen by the target.
type failpoint struct {
	mark     []byte
	nth      int  // of the requests that contain mark, from 1; none if 0
	executed bool // the target carries the request out before the caller dies
	struck   func()
	then     Aftermath

	seen   int
	last   *Link // that carries the last request, while its answer is awaited
	passed bool  // the caller is dead
}

// An Aftermath is what a caller finds that comes back after a failpoint.
type Aftermath int

// The aftermaths.
const (
	Gone    Aftermath = iota // connections are made, and end at once
	Refused                  // no connection is made
	Loading                  // Redis is back, and answers marked requests that it still reads its files
	Back                     // all is well again
)

// CutAt ends every connection at the nth request that contains mark, as FailAt
// does, and says what callers find that come back before Heal.
func (p *Proxy) CutAt(mark string, nth int, executed bool, then Aftermath) {
	p.FailAt(mark, nth, executed, func() {})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.point.then = then
}

// Struck says that the failpoint was reached.
func (p *Proxy) Struck() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.point != nil && p.point.passed
}

// FailAt makes the nth request that contains mark, counted from 1, the last that
// passes: it is swallowed, or with executed it is carried out and its answer is.
// Every connection ends then and no other is made until Heal; struck is called
// just before. With nth 0 requests are only counted.
func (p *Proxy) FailAt(mark string, nth int, executed bool, struck func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.point = &failpoint{mark: []byte(mark), nth: nth, executed: executed, struck: struck}
}

// Requests is how many requests contained the mark of FailAt so far.
func (p *Proxy) Requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.point == nil {
		return 0
	}
	return p.point.seen
}

// asked looks at a request for the failpoint, and reports whether it is swallowed.
func (l *Link) asked(request []byte) bool {
	p := l.proxy
	p.mu.Lock()
	point := p.point
	if point == nil || !bytes.Contains(request, point.mark) {
		p.mu.Unlock()
		return false
	}
	if point.passed && point.then == Loading {
		p.mu.Unlock()
		_, _ = l.caller.Write([]byte("-LOADING Redis is loading the dataset in memory\r\n"))
		return true
	}
	point.seen++
	hit := point.nth == point.seen
	if hit && point.executed {
		point.last = l
	}
	p.mu.Unlock()
	if hit && !point.executed {
		p.dies(point)
		return true
	}
	return false
}

// answered looks at an answer for the failpoint, and reports whether it is swallowed.
func (l *Link) answered() bool {
	p := l.proxy
	p.mu.Lock()
	point := p.point
	hit := point != nil && point.last == l
	if hit {
		point.last = nil
	}
	p.mu.Unlock()
	if hit {
		p.dies(point)
	}
	return hit
}

func (p *Proxy) dies(at *failpoint) {
	p.BlackHole()
	p.mu.Lock()
	at.passed = true
	if at.then != Gone {
		p.faults = faults{}
	}
	p.mu.Unlock()
	if at.then == Refused {
		p.refuse()
	}
	at.struck()
	p.Cut()
}

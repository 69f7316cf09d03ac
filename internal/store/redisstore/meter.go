package redisstore

import (
	"time"

	"github.com/c3po-dev/c3po/c3po"
)

// A Meter counts how long steps take and how they fail.
type Meter interface {
	// StoreTook is called for every step and the reads that hubs make by
	// themselves, whatever their outcome.
	StoreTook(op string, took time.Duration)
	// StoreFailed is called for every step or read that Redis refused, or that
	// did not reach it.
	StoreFailed(code c3po.Code)
}

// unmetered counts nothing.
type unmetered struct{}

func (unmetered) StoreTook(string, time.Duration) {}
func (unmetered) StoreFailed(c3po.Code)           {}

// took is deferred with the time a step began.
func (s *Store) took(op string, began time.Time) { s.meter.StoreTook(op, time.Since(began)) }

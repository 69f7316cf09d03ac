package redisstore

import "github.com/c3po-dev/c3po/c3po"

// Known makes a store take a space for listed, as if it had just looked.
func Known(s *Store, space c3po.Space) { s.known.Store(space, s.now()) }

package server

import (
	"context"
	"net/http"
	"net/netip"
	"time"
)

// OpenStore is openStore with a patience of the test's own.
func OpenStore(ctx context.Context, cfg Config, most time.Duration) error {
	store, err := openStore(ctx, cfg, "", nil, most)
	if err == nil {
		store.Close()
	}
	return err
}

// Behind is behind.
func Behind(proxies []netip.Prefix, plain bool, next http.Handler) http.Handler {
	return behindProxy(proxies, plain, next)
}

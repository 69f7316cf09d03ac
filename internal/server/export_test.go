package server

import (
	"context"
	"time"
)

// OpenStore is openStore with a patience of the test's own.
func OpenStore(ctx context.Context, cfg Config, most time.Duration) error {
	store, err := openStore(ctx, cfg, nil, most)
	if err == nil {
		store.Close()
	}
	return err
}

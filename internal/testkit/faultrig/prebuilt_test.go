package faultrig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOnlyTheProgramWithTheNamedHashIsStarted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c3po")
	if err := os.WriteFile(path, []byte("a program"), 0o600); err != nil {
		t.Fatal(err)
	}
	const hash = "d69ea8cda2433733c1ce02de65da8f48e6a3dbba6bb18876a2062908e54ef7cb"
	if got, err := prebuilt(path + ":" + hash); err != nil || got != path {
		t.Errorf("prebuilt = %q, %v, want %s", got, err, path)
	}
	for _, value := range []string{path, path + ":", path + ":" + strings.Repeat("0", 64), filepath.Join(t.TempDir(), "none") + ":" + hash} {
		if got, err := prebuilt(value); err == nil {
			t.Errorf("prebuilt(%q) = %q, want an error", value, got)
		}
	}
}

package redisstore_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/store"
	"github.com/c3po-dev/c3po/internal/store/redisstore"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

const schemaKey = "c3po:1:{_}:schema"

// signature is what a Redis holds of the schema: "schema min_reader version".
func signature(t *testing.T, server *redistest.Server) string {
	t.Helper()
	var is []string
	for _, field := range []string{"schema", "min_reader", "version"} {
		is = append(is, do(t, server.Addr(), "HGET", schemaKey, field))
	}
	return strings.Join(is, " ")
}

func starts(t *testing.T, server *redistest.Server, version string) error {
	t.Helper()
	s, err := redisstore.Open(t.Context(), redisstore.Config{URL: server.URL(), Writer: version})
	if err == nil {
		s.Close()
	}
	return err
}

func TestACoordinatorSignsAnEmptyRedisAndOneOfAnEarlierSchemaOnce(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	if err := starts(t, server, ""); err != nil {
		t.Fatal(err)
	}
	if got := do(t, server.Addr(), "DBSIZE"); got != "0" {
		t.Errorf("who only looks wrote %s keys", got)
	}
	want := fmt.Sprint(store.Schema, store.MinReader, " 1.2.0")
	for _, version := range []string{"1.2.0", "1.2.1"} {
		if err := starts(t, server, version); err != nil {
			t.Fatal(err)
		}
		if got := signature(t, server); got != want {
			t.Errorf("after a start of %s it is signed %q, want %q", version, got, want)
		}
	}
	do(t, server.Addr(), "HSET", schemaKey, "schema", "0", "min_reader", "0", "version", "0.9.0")
	if err := starts(t, server, "1.2.0"); err != nil {
		t.Fatal(err)
	}
	if got := signature(t, server); got != want {
		t.Errorf("an earlier schema is signed %q, want %q", got, want)
	}
}

func TestACoordinatorWorksBesideANewerOneWhoseDataItUnderstands(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	do(t, server.Addr(), "HSET", schemaKey, "schema", strconv.Itoa(store.Schema+1), "min_reader", strconv.Itoa(store.Schema), "version", "2.0.0")
	if err := starts(t, server, "1.2.0"); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(store.Schema+1, store.Schema, " 2.0.0")
	if got := signature(t, server); got != want {
		t.Errorf("the newer one's word is %q now, want %q", got, want)
	}
}

func TestDataOfANewerVersionIsRefusedInWordsAndLeftAlone(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	do(t, server.Addr(), "HSET", schemaKey, "schema", strconv.Itoa(store.Schema+2), "min_reader", strconv.Itoa(store.Schema+1), "version", "3.1.4")
	for _, version := range []string{"", "1.2.0"} { // who looks, and who would write
		err := starts(t, server, version)
		if !errors.Is(err, c3po.InvalidRequest) || !strings.Contains(err.Error(), "3.1.4") || !strings.Contains(err.Error(), "schema "+strconv.Itoa(store.Schema+1)) {
			t.Errorf("Open = %v, want a refusal that names the version and the schema", err)
		}
	}
	if got := do(t, server.Addr(), "DBSIZE"); got != "1" {
		t.Errorf("%s keys are there after the refusal", got)
	}
	if got := do(t, server.Addr(), "HGET", schemaKey, "version"); got != "3.1.4" {
		t.Errorf("the data is said to be of %q now", got)
	}
}

func TestAWrongTypeInTheSchemaIsAnErrorAndStays(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	do(t, server.Addr(), "SET", schemaKey, "wrong")
	if err := starts(t, server, "1.2.0"); err == nil {
		t.Error("it started")
	}
	if got := do(t, server.Addr(), "GET", schemaKey); got != "wrong" {
		t.Errorf("it is %q now", got)
	}
}

// A Redis that takes no writes must not keep a coordinator from starting that
// has been here before.
func TestASignedRedisThatTakesNoWritesIsOpened(t *testing.T) {
	t.Parallel()
	server := redistest.New(t)
	if err := starts(t, server, "1.2.0"); err != nil {
		t.Fatal(err)
	}
	do(t, server.Addr(), "CONFIG", "SET", "min-replicas-to-write", "1")
	if err := starts(t, server, "1.2.0"); err != nil {
		t.Errorf("Open = %v", err)
	}
}

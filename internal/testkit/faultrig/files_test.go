package faultrig_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/client"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
	"github.com/c3po-dev/c3po/internal/testkit/redistest"
)

// A sentFile is a file that a message carries, as its sender was told.
type sentFile struct {
	message c3po.Message
	size    int
}

// content is bytes that no other seed has.
func content(seed uint64, size int) []byte {
	data := make([]byte, size)
	source := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 7})
	_, _ = source.Read(data) // it never fails
	return data
}

// sendFile uploads and sends until it is stored: what was uploaded before a kill is not sent again.
func sendFile(ctx context.Context, svc *client.Client, n int, data []byte) (c3po.Message, error) {
	for {
		state, err := svc.Upload(ctx, fmt.Sprintf("file-%d.bin", n), "application/octet-stream", bytes.NewReader(data))
		if err == nil {
			var receipt c3po.Receipt
			receipt, err = svc.SendMessage(ctx, c3po.SendInput{
				Target: "reader", Message: fmt.Sprintf("file %d", n), ClientKey: fmt.Sprintf("file-%d", n), Attach: []c3po.FileID{state.ID},
			})
			if err == nil {
				return receipt.Message, nil
			}
		}
		if code := c3po.AsError(err).Code; code == c3po.InvalidRequest || code == c3po.Forbidden || ctx.Err() != nil {
			return c3po.Message{}, err
		}
		faultrig.Pass(ctx, 50*time.Millisecond)
	}
}

// download reads a file back; the client holds it to its hash.
func download(ctx context.Context, svc *client.Client, m c3po.Message) ([]byte, error) {
	var got bytes.Buffer
	err := svc.Download(ctx, m.ID, m.Attachments[0], &got)
	return got.Bytes(), err
}

func TestNoFileIsLostOrDamagedWhileProcessesAreKilled(t *testing.T) {
	t.Parallel()
	const writers, nodes = 4, 2
	files, kills, largest := faultrig.Size(20, 1000), faultrig.Size(3, 40), faultrig.Size(1<<20, 50<<20)
	redis := redistest.New(t, "--appendfsync", "always")
	var coordinators []*faultrig.Coordinator
	for range nodes {
		coordinators = append(coordinators, faultrig.StartWith(t, redis.URL(), "limits:\n  space_file_bytes: 17179869184\n"))
	}
	agent(t, coordinators[0].URL(), "reader")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()

	sent := make([]sentFile, files)
	var stored atomic.Int64
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			svc := client.New(client.Config{URL: coordinators[w%nodes].URL(), AgentID: c3po.AgentID(fmt.Sprintf("writer-%d", w))})
			for n := w; n < files; n += writers {
				// From a kilobyte up, and few large ones.
				size := 1024 * math.Pow(float64(largest)/1024, math.Pow(float64(n)/float64(files-1), 6))
				data := content(uint64(n), int(size))
				m, err := sendFile(ctx, svc, n, data)
				if err != nil {
					t.Errorf("file %d: %v", n, err)
					return
				}
				sent[n] = sentFile{m, len(data)}
				stored.Add(1)
			}
		})
	}
	for n := range kills {
		due := int64(files * (n + 1) / (kills + 2))
		faultrig.Within(10*time.Minute, func() bool { return stored.Load() >= due || t.Failed() })
		if n%2 == 0 {
			coordinators[n/2%nodes].Kill()
			coordinators[n/2%nodes].Restart()
		} else {
			redis.Kill()
			redis.Restart()
		}
	}
	writing.Wait()
	if t.Failed() {
		return
	}

	url := coordinators[0].URL()
	reader := client.New(client.Config{URL: url, AgentID: "reader"})
	elsewhere := client.New(client.Config{URL: url, AgentID: "reader", Space: "elsewhere"})
	var bytesRead int64
	lost := 0
	for n, file := range sent {
		got, err := download(ctx, reader, file.message)
		if err != nil || !bytes.Equal(got, content(uint64(n), file.size)) {
			t.Errorf("file %d of %d bytes comes back as %d: %v", n, file.size, len(got), err)
			lost++
		}
		bytesRead += int64(len(got))
		if _, err := download(ctx, elsewhere, file.message); err == nil {
			t.Errorf("another space reads file %d", n)
		}
	}
	over := endFiles(ctx, t, url, sent)
	faultrig.Verdict{
		Row: "B1", Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost}, Lost: lost,
		Size:   fmt.Sprintf("%d files of 1 KiB to %d MiB, %d MiB in all, each held to its hash; none is read from another space, nor the %d whose message was cancelled", files, largest>>20, bytesRead>>20, over),
		Faults: fmt.Sprintf("%d kills of a coordinator, %d of Redis, during uploads", (kills+1)/2, kills/2),
	}.Record(t)
}

// endFiles cancels every other message, after which nobody reads its file.
func endFiles(ctx context.Context, t *testing.T, url string, sent []sentFile) (over int) {
	t.Helper()
	reader := client.New(client.Config{URL: url, AgentID: "reader"})
	for n := 0; n < len(sent); n += 2 {
		writer := client.New(client.Config{URL: url, AgentID: sent[n].message.FromAgent})
		if _, err := writer.Cancel(ctx, c3po.MessageInput{MessageID: sent[n].message.ID}); err != nil {
			t.Errorf("cancel %d: %v", n, err)
		}
		for _, svc := range []*client.Client{reader, writer} {
			if _, err := download(ctx, svc, sent[n].message); err == nil {
				t.Errorf("file %d is read after its message was cancelled", n)
			}
		}
		over++
	}
	for n := 1; n < len(sent); n += 2 {
		query := c3po.FileQuery{MessageID: sent[n].message.ID, File: sent[n].message.Attachments[0].ID}
		if _, err := reader.FileRead(ctx, query); err != nil {
			t.Errorf("file %d is gone with the messages of others: %v", n, err)
		}
	}
	return over
}

func TestAFullBudgetRefusesFilesAndLosesNone(t *testing.T) {
	t.Parallel()
	redis := redistest.New(t, "--appendonly", "no")
	coordinator := faultrig.StartWith(t, redis.URL(), "limits:\n  space_file_bytes: 8388608\n")
	agent(t, coordinator.URL(), "reader")
	var sent []c3po.Message
	var refusals int
	for n := range 9 {
		svc := client.New(client.Config{URL: coordinator.URL(), AgentID: c3po.AgentID(fmt.Sprintf("writer-%d", n%3))})
		state, err := svc.Upload(t.Context(), fmt.Sprintf("file-%d.bin", n), "", bytes.NewReader(content(uint64(n), 1<<20)))
		if err != nil {
			if code := c3po.AsError(err).Code; code != c3po.StoreFull {
				t.Fatalf("file %d: %v", n, err)
			}
			refusals++
			continue
		}
		receipt, err := svc.SendMessage(t.Context(), c3po.SendInput{Target: "reader", Message: fmt.Sprintf("file %d", n), Attach: []c3po.FileID{state.ID}})
		if err != nil {
			t.Fatalf("file %d: %v", n, err)
		}
		sent = append(sent, receipt.Message)
	}
	if len(sent) != 7 || refusals != 2 {
		t.Errorf("%d files of 1 MiB fit into 8 MiB, and %d are refused", len(sent), refusals)
	}
	reader := client.New(client.Config{URL: coordinator.URL(), AgentID: "reader"})
	for _, m := range sent {
		if _, err := download(t.Context(), reader, m); err != nil {
			t.Errorf("%s: %v", m.Attachments[0].Name, err)
		}
	}
	writer := client.New(client.Config{URL: coordinator.URL(), AgentID: sent[0].FromAgent})
	if _, err := writer.Cancel(t.Context(), c3po.MessageInput{MessageID: sent[0].ID}); err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Upload(t.Context(), "again.bin", "", bytes.NewReader(content(99, 1<<20))); err != nil {
		t.Errorf("after one is gone: %v", err)
	}
}

func TestACoordinatorsMemoryStaysFlatWhileFilesAreSent(t *testing.T) {
	t.Parallel()
	const senders = 20
	size := faultrig.Size(2<<20, 50<<20)
	redis := redistest.New(t, "--appendonly", "no")
	coordinator := faultrig.Start(t, redis.URL())
	agent(t, coordinator.URL(), "reader")
	before := faultrig.Resident(t, coordinator.PID())
	data := content(1, size) // each under a name of its own, which makes it another file
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	began := time.Now()
	var sending sync.WaitGroup
	for n := range senders {
		sending.Go(func() {
			svc := client.New(client.Config{URL: coordinator.URL(), AgentID: c3po.AgentID(fmt.Sprintf("sender-%d", n))})
			m, err := sendFile(ctx, svc, n, data)
			if err == nil {
				_, err = download(ctx, svc, m)
			}
			if err != nil {
				t.Errorf("file %d: %v", n, err)
			}
		})
	}
	done := make(chan struct{})
	go func() { sending.Wait(); close(done) }()
	most := before
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(20 * time.Millisecond):
			most = max(most, faultrig.Resident(t, coordinator.PID()))
		}
	}
	faultrig.Verdict{
		Row: "F2", Holds: []faultrig.Invariant{faultrig.NothingStoredIsLost}, Faults: "none: size",
		Size: fmt.Sprintf("%d files of %d MiB sent and read at once in %v; the coordinator takes %d MiB before and %d MiB at most", senders, size>>20, time.Since(began).Round(time.Millisecond), before>>20, most>>20),
	}.Record(t)
	faultrig.Hold(t, "MiB that the coordinator grows by", (most-before)>>20, 96)
}

func TestAFullDiskRefusesFilesAndLosesNone(t *testing.T) {
	t.Parallel()
	disk := faultrig.NewDisk(t, 16)
	redis := disk.Redis("--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0")
	coordinator := faultrig.Start(t, redis.URL())
	agent(t, coordinator.URL(), "reader")
	defer supervise(redis)()
	svc := lossy(coordinator.URL(), "writer")
	before, err := sendFile(t.Context(), svc, 0, content(0, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	disk.Fill()
	refused := faultrig.Within(time.Minute, func() bool {
		_, err := svc.Upload(t.Context(), "late.bin", "", bytes.NewReader(content(1, 3<<20)))
		return err != nil
	})
	if !refused {
		t.Fatal("a full disk refuses no file")
	}
	disk.Free()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	after, err := sendFile(ctx, svc, 1, content(1, 3<<20))
	if err != nil {
		t.Fatalf("once there is space again: %v", err)
	}
	for n, m := range []c3po.Message{before, after} {
		if _, err := download(ctx, svc, m); err != nil {
			t.Errorf("file %d: %v", n, err)
		}
	}
}

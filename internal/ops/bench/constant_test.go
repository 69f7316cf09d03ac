package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/internal/testkit/faultrig"
)

// constantAnswer tells the test binary to be a server, and what it answers.
const constantAnswer = "BENCH_CONSTANT_ANSWER"

// serveConstant is the other process: net/http reads a request and answers the
// same JSON to all of them. It ends with its input.
func serveConstant(answer string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	})
	go func() { _ = (&http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}).Serve(listener) }()
	fmt.Println(listener.Addr())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// startConstant starts it and gives its address and process id.
func startConstant(t *testing.T, answer string) (address string, pid int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), constantAnswer+"="+answer)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the constant server: %v", err)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line), cmd.Process.Pid
}

// What is held against each other is processor time of the server's process,
// for the same request over as many connections, in turns.
func TestAMessageCostsTheCoordinatorAFewConstantAnswers(t *testing.T) {
	s := newSending(t)
	inboxes := names("helper", 50)
	s.register(t, "main", inboxes)
	ours := strings.TrimPrefix(s.coordinator.URL(), "http://")
	text := strings.Repeat("x", 1024)
	number := 0
	cost := func(address string, pid int, n int) float64 {
		t.Helper()
		const workers = 64
		ctx, cut := context.WithCancel(t.Context())
		defer cut()
		seats, err := stage{open: (&web{address: address, space: "main"}).open}.seats(ctx, names("asker", workers))
		if err != nil {
			t.Fatal(err)
		}
		number++
		before, _ := cpuTime(pid)
		err = inParallel(workers, workers, func(i int) error {
			for k := i; k < n; k += workers {
				if _, err := seats[i].(*webSeat).call(t.Context(), "send_message", c3po.SendInput{
					Target: string(inboxes[k%len(inboxes)]), Message: text, ClientKey: fmt.Sprintf("%d-%d", number, k),
				}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		after, _ := cpuTime(pid)
		return float64((after - before).Microseconds()) / float64(n)
	}
	first, err := (&web{address: ours, space: "main"}).open(t.Context(), "asker-0")
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := first.(*webSeat).call(t.Context(), "send_message", c3po.SendInput{Target: "helper-0", Message: text})
	if err != nil {
		t.Fatal(err)
	}
	constant, pid := startConstant(t, string(receipt))
	n := faultrig.Size(4_000, 20_000)
	ratio := s.compare(t, faultrig.Size(3, 9),
		func() float64 { return cost(constant, pid, n) },
		func() float64 { return cost(ours, s.coordinator.PID(), n) })
	// 4 is wanted. A send is also checked, encoded for Redis, waited for and encoded
	// again, each in goroutines that wake each other: 9 on two processors that do
	// little else.
	faultrig.Hold(t, fmt.Sprintf("processor time of the coordinator for a send, of net/http answering a constant receipt (%d processors)", runtime.NumCPU()), ratio, 10.0)
}

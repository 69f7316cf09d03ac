// Command worker is an agent that works off a queue: it takes one task at a time and
// answers it. Start as many as you like, each with a name of its own:
//
//	go run ./examples/worker checker-1
//	c3po send role:check "Is the build green?" --wait 1m
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := work(ctx, os.Args[1]); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func work(ctx context.Context, name string) error {
	agent, err := client.Open(ctx, client.Config{Agent: name, Capabilities: []string{"check"}})
	if err != nil {
		return err
	}
	defer agent.Close(context.WithoutCancel(ctx))
	return agent.Serve(ctx, func(_ context.Context, task c3po.Message) (string, error) {
		fmt.Println(task.ID)
		return "checked: " + task.Text(), nil
	})
}

package client_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/c3po-dev/c3po/c3po"
	"github.com/c3po-dev/c3po/client"
)

// TestTheExamplesPrintWhatTheySay runs these, the first two together.

func ExampleClient_Ask() {
	ctx := context.Background()
	web, err := client.Open(ctx, client.Config{Agent: "web"})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := web.Ask(ctx, "api", "Which port does the gateway use?")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text())
}

func ExampleClient_Serve() {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	api, err := client.Open(ctx, client.Config{Agent: "api"})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = api.Serve(ctx, func(_ context.Context, m c3po.Message) (string, error) {
		fmt.Println(m.FromAgent, "asks:", m.Text())
		stop() // this one is enough
		return "8443", nil
	})
	if !errors.Is(err, context.Canceled) {
		fmt.Println(err)
	}
}

func ExampleClient_Tell() {
	ctx := context.Background()
	build, err := client.Open(ctx, client.Config{Agent: "build"})
	if err != nil {
		fmt.Println(err)
		return
	}
	receipt, err := build.Tell(ctx, "api", "main is green again")
	if errors.Is(err, c3po.AgentNotFound) {
		fmt.Println("nobody is called api")
		return
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("stored in", receipt.Durability)
}

func ExampleClient_Post() {
	ctx := context.Background()
	build, err := client.Open(ctx, client.Config{Agent: "build"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := build.Join(ctx, "release", c3po.NotifyMentions); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := build.Post(ctx, "release", "1.4 is out"); err != nil {
		fmt.Println(err)
		return
	}
	said, err := build.Service().RoomHistory(ctx, c3po.RoomHistoryInput{Room: "release"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range said.Messages {
		fmt.Println(m.FromAgent+":", m.Text())
	}
}

func ExampleClient_Events() {
	ctx := context.Background()
	build, err := client.Open(ctx, client.Config{Agent: "build"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for event, err := range build.Events(ctx, nil) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if event.Start != nil {
			go client.Open(ctx, client.Config{Agent: "newcomer"}) // so that something happens
			continue
		}
		fmt.Println(event.Event.Agent, event.Event.Kind)
		return
	}
}

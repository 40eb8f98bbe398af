// Command chat is a receiver of iff's webhook that asks people in a chat: each
// question comes as a message with two buttons, by a bot of Telegram. Only users
// that are named decide. See docs/webhook.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/iff-run/iff/examples/webhook/receiver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "chat:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var f receiver.Flags
	set := flag.NewFlagSet("chat", flag.ContinueOnError)
	f.Add(set)
	api := set.String("api", "https://api.telegram.org", "address of the Bot API")
	token := set.String("token-file", "", "file with the bot's token")
	chat := set.Int64("chat", 0, "id of the chat in which to ask")
	users := set.String("users", "", "ids of the users who may decide, separated by commas")
	if err := set.Parse(args); err != nil {
		return err
	}
	d := &desk{chat: *chat, log: logger(out)}
	var err error
	if d.users, err = parseUsers(*users); err != nil || *chat == 0 {
		return errors.Join(err, errors.New("name the chat with -chat and who may decide with -users, by their numbers"))
	}
	secret, err := os.ReadFile(*token)
	if err != nil {
		return err
	}
	d.bot = newBot(*api, strings.TrimSpace(string(secret)))
	r, err := f.Receiver()
	if err != nil {
		return err
	}
	r.Decide, r.Log = d.decide, d.log
	ctx, cancel := context.WithCancel(ctx)
	var polling sync.WaitGroup
	polling.Go(func() { d.poll(ctx, 5*time.Second) })
	err = f.Serve(ctx, r)
	cancel()
	polling.Wait()
	return err
}

func logger(out io.Writer) func(string) {
	var mu sync.Mutex
	return func(line string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintln(out, line)
	}
}

func parseUsers(text string) ([]int64, error) {
	var out []int64
	for part := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		if err != nil || id <= 0 {
			return nil, fmt.Errorf("%q is not the number of a user", part)
		}
		out = append(out, id)
	}
	return out, nil
}

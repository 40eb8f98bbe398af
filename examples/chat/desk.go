package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/iff-run/iff/approval"
	"github.com/iff-run/iff/record"
)

// maxText is how long a message may be, in UTF-16 code units.
const maxText = 4096

// maxWaiting is how many questions wait at once.
const maxWaiting = 50

// desk shows questions in a chat and waits for buttons to be pressed.
type desk struct {
	bot   *bot
	chat  int64
	users []int64 // who may decide
	log   func(string)

	mu      sync.Mutex
	waiting map[string]chan record.Choice // by the token in the buttons; guarded by mu
}

// decide shows a question in full and waits until somebody who may has decided,
// or ctx ends. It has no opinion where it cannot show all of it, and on what is
// guarded: for that a person types the name of the target at iff inbox.
func (d *desk) decide(ctx context.Context, q approval.Question) record.Choice {
	text := q.Render()
	if q.Guarded != "" || len(utf16.Encode([]rune(text))) > maxText {
		d.log(fmt.Sprintf("%s is guarded or too long for a message, so it is left to who is asked next", q.Request))
		return ""
	}
	token, pressed := d.wait()
	if token == "" {
		d.log("too many questions wait")
		return ""
	}
	defer d.drop(token)
	message, err := d.bot.send(ctx, d.chat, text, []button{{"approve " + token, "Approve"}, {"deny " + token, "Deny"}})
	if err != nil {
		d.log(err.Error())
		return ""
	}
	var choice record.Choice
	select {
	case choice = <-pressed:
	case <-ctx.Done():
		choice = "" // who asks has gone
	}
	if err := d.bot.settle(context.WithoutCancel(ctx), d.chat, message); err != nil {
		d.log(err.Error())
	}
	return choice
}

// wait makes a token that nobody can guess.
func (d *desk) wait() (token string, pressed <-chan record.Choice) {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.waiting) >= maxWaiting {
		return "", nil
	}
	if d.waiting == nil {
		d.waiting = map[string]chan record.Choice{}
	}
	c := make(chan record.Choice, 1)
	token = hex.EncodeToString(random[:])
	d.waiting[token] = c
	return token, c
}

func (d *desk) drop(token string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waiting, token)
}

// poll takes presses until ctx ends. Between failures it waits a little.
func (d *desk) poll(ctx context.Context, pause time.Duration) {
	var offset int64
	for ctx.Err() == nil {
		all, next, err := d.bot.presses(ctx, offset)
		if offset = next; err != nil {
			if ctx.Err() == nil {
				d.log(err.Error())
			}
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
			continue
		}
		for _, p := range all {
			if err := d.bot.tell(ctx, p.id, d.press(p)); err != nil {
				d.log(err.Error())
			}
		}
	}
}

// press decides, if it is by somebody who may and of a question that waits, and
// says what came of it.
func (d *desk) press(p press) string {
	word, token, _ := strings.Cut(p.data, " ")
	choice := record.Choice(word)
	if !slices.Contains(d.users, p.from) {
		d.log(fmt.Sprintf("user %d pressed a button and may not", p.from))
		return "you may not decide this"
	}
	if choice != record.Approve && choice != record.Deny {
		return "this is not a decision"
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	pressed, ok := d.waiting[token]
	if !ok {
		return "this does not wait any more"
	}
	delete(d.waiting, token) // the first press counts
	pressed <- choice
	d.log(fmt.Sprintf("user %d: %s", p.from, choice))
	return string(choice)
}

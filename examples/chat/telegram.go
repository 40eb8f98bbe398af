package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/iff-run/iff/internal/canonical"
)

const (
	maxReply = 4 << 20
	pollTime = 25 * time.Second // that the service holds a request for updates
	callTime = 10 * time.Second
)

// bot is what is used of the Telegram Bot API (https://core.telegram.org/bots/api).
type bot struct {
	base string // such as https://api.telegram.org, without a slash at the end
	// token is part of every URL, so errors of the HTTP client are not shown.
	token  string
	client *http.Client
}

func newBot(base, token string) *bot {
	return &bot{base: strings.TrimRight(base, "/"), token: token, client: &http.Client{
		Transport:     &http.Transport{ForceAttemptHTTP2: true, TLSHandshakeTimeout: callTime}, // no Proxy
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// object is a JSON object of which some members are of interest.
type object map[string]canonical.Raw

func (o object) read(name string, into any) error {
	raw, ok := o[name]
	if !ok {
		return fmt.Errorf("there is no %s", name)
	}
	return canonical.Parse([]byte(raw.String()), into, canonical.Limits{Bytes: maxReply})
}

// call calls a method with the canonical JSON of params and reads its result.
func (b *bot) call(ctx context.Context, timeout time.Duration, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	body, err := canonical.Marshal(params)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.base+"/bot"+b.token+"/"+method, bytes.NewReader(body))
	if err != nil {
		return errors.New(method + ": the address of the service is none")
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := b.client.Do(req)
	if err != nil {
		return errors.New(method + ": the service does not answer")
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	if err != nil || len(data) > maxReply {
		return errors.New(method + ": the answer is too long, or broke off")
	}
	var o object
	var ok bool
	if err := canonical.Parse(data, &o, canonical.Limits{Bytes: maxReply}); err != nil {
		return fmt.Errorf("%s: status %d: %w", method, resp.StatusCode, err)
	}
	if err := o.read("ok", &ok); err != nil || !ok {
		return fmt.Errorf("%s: status %d: the service refused", method, resp.StatusCode)
	}
	if result == nil {
		return nil
	}
	return o.read("result", result)
}

type button struct {
	Data string `json:"callback_data"`
	Text string `json:"text"`
}

type keyboard struct {
	Rows [][]button `json:"inline_keyboard"`
}

type preview struct {
	Off bool `json:"is_disabled"`
}

// send shows a text with buttons and returns the message's id. The text is shown
// as it is: no markup, no preview of links, which would fetch them.
func (b *bot) send(ctx context.Context, chat int64, text string, buttons []button) (int64, error) {
	var o object
	err := b.call(ctx, callTime, "sendMessage", struct {
		Chat    int64    `json:"chat_id"`
		Text    string   `json:"text"`
		Preview preview  `json:"link_preview_options"`
		Markup  keyboard `json:"reply_markup"`
	}{chat, text, preview{true}, keyboard{[][]button{buttons}}}, &o)
	var id int64
	if err == nil {
		err = o.read("message_id", &id)
	}
	return id, err
}

// settle takes the buttons away.
func (b *bot) settle(ctx context.Context, chat, message int64) error {
	return b.call(ctx, callTime, "editMessageReplyMarkup", struct {
		Chat    int64    `json:"chat_id"`
		Message int64    `json:"message_id"`
		Markup  keyboard `json:"reply_markup"`
	}{chat, message, keyboard{[][]button{}}}, nil)
}

// tell answers a press of a button.
func (b *bot) tell(ctx context.Context, press, text string) error {
	return b.call(ctx, callTime, "answerCallbackQuery", struct {
		ID   string `json:"callback_query_id"`
		Text string `json:"text"`
	}{press, text}, nil)
}

// press is a press of a button.
type press struct {
	id   string
	from int64
	data string
}

// presses waits for presses and returns the offset from which to ask next.
func (b *bot) presses(ctx context.Context, offset int64) ([]press, int64, error) {
	var updates []object
	err := b.call(ctx, pollTime+callTime, "getUpdates", struct {
		Allowed []string `json:"allowed_updates"`
		Offset  int64    `json:"offset"`
		Timeout int64    `json:"timeout"`
	}{[]string{"callback_query"}, offset, int64(pollTime / time.Second)}, &updates)
	if err != nil {
		return nil, offset, err
	}
	var out []press
	for _, u := range updates {
		var id int64
		if err := u.read("update_id", &id); err != nil {
			return nil, offset, err
		}
		offset = max(offset, id+1)
		if p, err := readPress(u); err == nil { // others are not asked for
			out = append(out, p)
		}
	}
	return out, offset, nil
}

func readPress(update object) (press, error) {
	var query, from object
	var p press
	err := update.read("callback_query", &query)
	if err == nil {
		err = query.read("from", &from)
	}
	if err == nil {
		err = errors.Join(query.read("id", &p.id), query.read("data", &p.data), from.read("id", &p.from))
	}
	return p, err
}

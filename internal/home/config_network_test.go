package home_test

import (
	"testing"

	"github.com/iff-run/iff/internal/home"
)

// The service that answers questions is no place for an agent's requests.
func TestWebhookAddress(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1:8443/": "127.0.0.1:8443", "http://localhost/x": "127.0.0.1:80", "https://[::1]/": "[::1]:443", "https://a.example/": "",
	} {
		at, ok := home.Config{Webhook: &home.WebhookConfig{URL: url}}.WebhookAddress()
		if ok != (want != "") || ok && at.String() != want {
			t.Errorf("%s: %s, %v", url, at, ok)
		}
	}
}

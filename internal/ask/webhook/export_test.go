package webhook

import "github.com/iff-run/iff/approval"

// Take is what becomes of the body of a reply.
func (b *Broker) Take(data []byte, qs ...approval.Question) ([]approval.Answer, Reason) {
	return b.take(data, qs)
}

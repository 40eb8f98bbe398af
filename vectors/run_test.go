package vectors_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/iff-run/iff/capability"
	"github.com/iff-run/iff/internal/canonical"
	"github.com/iff-run/iff/label"
	"github.com/iff-run/iff/manifest"
	"github.com/iff-run/iff/skill"
)

// runner takes a vector through the implementation. Its error means that the
// vector is no vector; a refusal is a result. It may write below scratch.
type runner func(v vector, scratch string) (result, error)

// runners are the families, and in a family the kinds.
func runners() map[string]runner {
	return map[string]runner{
		"canonical": runCanonical,
		"content":   runContent,
		"manifests": runManifest,
		"grants":    byKind(map[string]runner{"grant": runGrant, "target": runTarget, "covers": runCovers, "list": runList}),
		"labels":    byKind(map[string]runner{"parse": runLabelText, "parts": runLabelParts, "order": runOrder, "join": runJoin, "scheme": runScheme}),
		"signatures": byKind(map[string]runner{
			"key": runKey, "signature": runSignature, "directory": runDirectory,
		}),
		"trust":    byKind(map[string]runner{"chain": runChain, "signer": runSigner, "narrow": runNarrow}),
		"logs":     byKind(map[string]runner{"log": runLog, "bytes": runLogBytes, "segments": runSegments, "receipt": runReceipt}),
		"verdicts": runVerdict,
		"policy":   byKind(map[string]runner{"read": runReadPolicy, "decide": runDecide, "facts": runFacts}),
	}
}

func byKind(kinds map[string]runner) runner {
	return func(v vector, scratch string) (result, error) {
		run, ok := kinds[v.get("kind")]
		if !ok {
			return result{}, fmt.Errorf("unknown kind %q", v.header["kind"])
		}
		return run(v, scratch)
	}
}

// answer is a result: pairs of header and value.
func answer(token string, pairs ...string) (result, error) {
	r := result{token, map[string]string{}}
	for i := 0; i < len(pairs); i += 2 {
		r.derived[pairs[i]] = pairs[i+1]
	}
	return r, nil
}

// refusal is the result of an error: its token.
func refusal(err error, pairs ...string) (result, error) {
	var load *skill.LoadError
	var read *skill.ReadError
	token := manifest.Token(err)
	switch {
	case errors.As(err, &load):
		token = string(load.Reason)
	case errors.As(err, &read):
		token = string(read.Reason)
	}
	if token == "" {
		return result{}, fmt.Errorf("an error without a token: %w", err)
	}
	return answer(token, pairs...)
}

func runCanonical(v vector, _ string) (result, error) {
	var lim canonical.Limits
	for key, into := range map[string]*int{"limit-bytes": &lim.Bytes, "limit-depth": &lim.Depth} {
		if text := v.get(key); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil {
				return result{}, err
			}
			*into = n
		}
	}
	out, err := canonical.Transform(v.payload, lim)
	var e *canonical.Error
	if errors.As(err, &e) {
		return refusal(err, "offset", strconv.FormatInt(e.Offset, 10))
	}
	if err != nil {
		return result{}, err
	}
	return answer("ok", "canonical", string(out))
}

func (v vector) scheme() (*label.Scheme, error) {
	s, ok := label.Builtin(v.get("scheme"))
	if !ok {
		return nil, fmt.Errorf("unknown scheme %q", v.header["scheme"])
	}
	return s, nil
}

func runLabelText(v vector, _ string) (result, error) {
	s, err := v.scheme()
	if err != nil {
		return result{}, err
	}
	l, err := s.Parse(string(v.payload))
	if err != nil {
		return refusal(err)
	}
	parts, err := canonical.Marshal(l.Parts())
	if err != nil || l.String() != string(v.payload) {
		return result{}, fmt.Errorf("%v is written otherwise (%w)", l, err)
	}
	return answer("ok", "parts", string(parts))
}

func runLabelParts(v vector, _ string) (result, error) {
	s, err := v.scheme()
	if err != nil {
		return result{}, err
	}
	var p label.Parts
	if err := canonical.Parse(v.payload, &p, canonical.Limits{}); err != nil {
		return result{}, err
	}
	l, err := s.FromParts(p)
	if err != nil {
		return refusal(err)
	}
	return answer("ok", "text", l.String())
}

// pair reads two labels, one a line.
func (v vector) pair() (a, b label.Label, err error) {
	s, err := v.scheme()
	if err != nil {
		return a, b, err
	}
	first, second, _ := strings.Cut(string(v.payload), "\n")
	a, errA := s.Parse(first)
	b, errB := s.Parse(second)
	return a, b, errors.Join(errA, errB)
}

func runOrder(v vector, _ string) (result, error) {
	a, b, err := v.pair()
	if err != nil {
		return result{}, err
	}
	if a.LessEq(b) {
		return answer("yes")
	}
	return answer("no")
}

func runJoin(v vector, _ string) (result, error) {
	a, b, err := v.pair()
	if err != nil {
		return result{}, err
	}
	return answer("ok", "join", a.Join(b).String())
}

func runScheme(v vector, _ string) (result, error) {
	var d label.SchemeData
	if err := canonical.Parse(v.payload, &d, canonical.Limits{}); err != nil {
		return result{}, err
	}
	s, err := label.NewScheme(d)
	if err != nil {
		return refusal(err)
	}
	sum := s.Digest()
	return answer("ok", "digest", hex.EncodeToString(sum[:]))
}

func runGrant(v vector, _ string) (result, error) {
	g, err := capability.ParseGrant(string(v.payload))
	if err != nil {
		return refuseSpelling(err)
	}
	if g.String() != string(v.payload) {
		return result{}, fmt.Errorf("%v is written otherwise", g)
	}
	return answer("ok")
}

func refuseSpelling(err error) (result, error) {
	var e *capability.Error
	if errors.As(err, &e) && e.Canonical != "" {
		return refusal(err, "canonical", e.Canonical)
	}
	return refusal(err)
}

// target reads the notation token(target).
func target(text string) (capability.Target, error) {
	token, argument, _ := strings.Cut(text, "(")
	c, err := capability.Parse(token)
	if err != nil {
		return capability.Target{}, err
	}
	return capability.ParseTarget(c, strings.TrimSuffix(argument, ")"))
}

func runTarget(v vector, _ string) (result, error) {
	if _, err := target(string(v.payload)); err != nil {
		return refuseSpelling(err)
	}
	return answer("ok")
}

func runCovers(v vector, _ string) (result, error) {
	first, second, _ := strings.Cut(string(v.payload), "\n")
	g, errGrant := capability.ParseGrant(first)
	t, errTarget := target(second)
	if err := errors.Join(errGrant, errTarget); err != nil {
		return result{}, err
	}
	if g.Covers(t) {
		return answer("covers")
	}
	return answer("outside")
}

func runList(v vector, _ string) (result, error) {
	var texts []string
	if err := canonical.Parse(v.payload, &texts, canonical.Limits{}); err != nil {
		return result{}, err
	}
	if _, err := capability.ParseGrants(texts); err != nil {
		return refusal(err)
	}
	return answer("ok")
}

func runManifest(v vector, _ string) (result, error) {
	s, err := v.scheme()
	if err != nil {
		return result{}, err
	}
	m, err := manifest.Parse(v.payload, s)
	var e *manifest.Error
	if errors.As(err, &e) && e.Offset >= 0 {
		return refusal(err, "offset", strconv.FormatInt(e.Offset, 10))
	}
	if err != nil {
		return refusal(err)
	}
	return answer("ok", "canonical", string(m.Canonical()))
}

func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

package anchor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"github.com/iff-run/iff/internal/durable/durabletest"
	"github.com/iff-run/iff/internal/witness/witnesstest"
)

// point is a checkpoint that an anchor took.
type point struct {
	size int64
	root tlog.Hash
}

// forest is one history and two that fork from it, signed by one key.
func forest() []*witnesstest.Log {
	l := grown(20)
	out := []*witnesstest.Log{l}
	for i, at := range []int64{1, 7} {
		f := l.Fork(at)
		f.Grow(20, fmt.Sprint("fork ", i))
		out = append(out, f)
	}
	return out
}

func oneHistory(histories []*witnesstest.Log, points []point) bool {
	return slices.ContainsFunc(histories, func(l *witnesstest.Log) bool {
		return !slices.ContainsFunc(points, func(p point) bool { return l.Root(p.size) != p.root })
	})
}

// subject is an anchor that can be opened again, perhaps a wrong one.
type subject struct {
	open func() Anchor
	lose func() // the copy; nil if the anchor is nothing without it
	put  func(a Anchor, checkpoint []byte, extend Extend) error
}

func rightly(open func() Anchor, lose func()) subject {
	return subject{open, lose, func(a Anchor, checkpoint []byte, extend Extend) error {
		return a.Put(context.Background(), checkpoint, extend)
	}}
}

// losing removes the copies from a disk.
func losing(t testing.TB, d *durabletest.Disk) func() {
	return func() {
		names, err := d.List(copies)
		if errors.Is(err, fs.ErrNotExist) {
			return // nothing was taken yet
		}
		for _, name := range names {
			err = errors.Join(err, d.Remove(copies+"/"+name))
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// play offers checkpoints at random. An anchor takes exactly those that extend what it took before, and gives the last.
func play(histories []*witnesstest.Log, s subject, turns int, pick func(n int, what string) int) error {
	a, points := s.open(), []point{}
	for range turns {
		if pick(10, "open again") == 9 {
			a = s.open()
		}
		if s.lose != nil && pick(10, "lose the copy") == 9 {
			s.lose()
		}
		l := histories[pick(3, "history")]
		size := int64(pick(20, "size") + 1)
		proof, honest := extend(l, size), pick(5, "proof") != 4
		if !honest {
			proof = func(context.Context, int64) ([]tlog.Hash, error) { return []tlog.Hash{{1}}, nil }
		}
		all := append(slices.Clone(points), point{size, l.Root(size)})
		fits := oneHistory(histories, all) && (len(points) == 0 || points[len(points)-1].size <= size)
		err := s.put(a, l.Checkpoint(size), proof)
		switch {
		case err == nil && !fits:
			return fmt.Errorf("size %d was taken after %d, of another history or smaller", size, len(points))
		case err != nil && fits && honest:
			return fmt.Errorf("refused what extends: %w", err)
		case err == nil:
			points = all
		}
		v, ok, err := a.Newest(context.Background())
		if err != nil || v.Offline != nil || ok != (len(points) > 0) {
			return fmt.Errorf("newest: %v %v %v", ok, v.Offline, err)
		}
		if ok && points[len(points)-1] != (point{v.Size, v.Root}) {
			return fmt.Errorf("newest is %d, and %d was taken last", v.Size, points[len(points)-1].size)
		}
	}
	return nil
}

func fileSubject(t testing.TB, l *witnesstest.Log) subject {
	d := newDisk(t)
	return rightly(func() Anchor { return mustFile(t, d, l) }, losing(t, d))
}

func witnessSubject(t testing.TB, l *witnesstest.Log) subject {
	d, w := newDisk(t), newWitness(t, l)
	return rightly(func() Anchor { return clientOf(t, d, l, w.VerifierKey(), w) }, losing(t, d))
}

// liar cosigns whatever it is sent, and gives the last as its newest.
type liar struct {
	signer note.Signer
	vkey   string
	last   []byte
}

func newLiar(t testing.TB) *liar {
	t.Helper()
	skey, vkey, err := note.GenerateKey(rand.NewChaCha8([32]byte{}), keyName)
	if err != nil {
		t.Fatal(err)
	}
	s, err := cosignature.NewSignerForCosignatureV1(skey)
	if err != nil {
		t.Fatal(err)
	}
	return &liar{signer: s, vkey: vkey}
}

func (l *liar) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && l.last == nil {
		http.NotFound(rw, r)
		return
	}
	if r.Method == http.MethodGet {
		_, _ = rw.Write(l.last)
		return
	}
	line, whole := cosign(readBody(r), l.signer)
	l.last = whole
	_, _ = rw.Write(line)
}

func readBody(r *http.Request) []byte {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	return body
}

// cosign gives the answer to an add-checkpoint request, and the checkpoint with the cosignature.
func cosign(body []byte, signer note.Signer) (line, whole []byte) {
	_, checkpoint, _ := bytes.Cut(body, []byte("\n\n"))
	_, err := note.Open(checkpoint, nil)
	var unverified *note.UnverifiedNoteError
	if !errors.As(err, &unverified) {
		panic(err)
	}
	whole, err = note.Sign(unverified.Note, signer)
	if err != nil {
		panic(err)
	}
	return whole[bytes.LastIndexByte(whole[:len(whole)-1], '\n')+1:], whole
}

func liarSubject(t testing.TB, l *witnesstest.Log) subject {
	d, w := newDisk(t), newLiar(t)
	return rightly(func() Anchor { return clientOf(t, d, l, w.vkey, w) }, nil)
}

// The law holds for a file, for a witness, and, thanks to the copy, even for a witness that lies.
func TestTakesOneHistory(t *testing.T) {
	for what, newSubject := range map[string]func(testing.TB, *witnesstest.Log) subject{
		"file": fileSubject, "witness": witnessSubject, "witness that cosigns everything": liarSubject,
	} {
		t.Run(what, func(t *testing.T) {
			histories := forest()
			rapid.Check(t, func(r *rapid.T) {
				turns := rapid.IntRange(1, 25).Draw(r, "turns")
				pick := func(n int, what string) int { return rapid.IntRange(0, n-1).Draw(r, what) }
				if err := play(histories, newSubject(t, histories[0]), turns, pick); err != nil {
					r.Fatal(err)
				}
			})
		})
	}
}

// wrongFollowers are rules that forget something.
func wrongFollowers(b *base) map[string]follower {
	return map[string]follower{
		"sizes not compared": func(ctx context.Context, held, given head, extend Extend) ([]tlog.Hash, error) {
			if held.size > given.size {
				return nil, nil
			}
			return b.follow(ctx, held, given, extend)
		},
		"root not compared at the same size": func(ctx context.Context, held, given head, extend Extend) ([]tlog.Hash, error) {
			if held.size == given.size {
				return nil, nil
			}
			return b.follow(ctx, held, given, extend)
		},
		"proof not checked": func(ctx context.Context, held, given head, extend Extend) ([]tlog.Hash, error) {
			if held.size < given.size {
				return nil, nil
			}
			return b.follow(ctx, held, given, extend)
		},
		"refuses what is the same": func(ctx context.Context, held, given head, extend Extend) ([]tlog.Hash, error) {
			if held.note != nil && held.size == given.size {
				return nil, errors.New("nothing new")
			}
			return b.follow(ctx, held, given, extend)
		},
	}
}

// careless are clients of a witness that believe too much.
func careless() map[string]func(w *witnessAnchor, checkpoint []byte, extend Extend) error {
	ctx := context.Background()
	step := func(w *witnessAnchor, checkpoint []byte, extend Extend) (head, reply, error) {
		given, err := w.opened("it", checkpoint, nil)
		if err != nil {
			return head{}, reply{}, err
		}
		before, _, _ := w.kept(w.key)
		proof, err := w.follow(ctx, before, given, extend)
		if err != nil {
			return head{}, reply{}, err
		}
		r, err := w.send(ctx, before.size, proof, given)
		return given, r, err
	}
	return map[string]func(w *witnessAnchor, checkpoint []byte, extend Extend) error{
		"409 ignored": func(w *witnessAnchor, checkpoint []byte, extend Extend) error {
			given, r, err := step(w, checkpoint, extend)
			if err != nil || r.status == http.StatusConflict {
				return err
			}
			cosigned, err := w.accept(ctx, r, given, extend)
			if err != nil {
				return err
			}
			return w.keep(cosigned)
		},
		"status ignored": func(w *witnessAnchor, checkpoint []byte, extend Extend) error {
			_, _, err := step(w, checkpoint, extend)
			return err
		},
		"copy not kept": func(w *witnessAnchor, checkpoint []byte, extend Extend) error {
			given, r, err := step(w, checkpoint, extend)
			if err == nil {
				_, err = w.accept(ctx, r, given, extend)
			}
			return err
		},
	}
}

func TestLawCatches(t *testing.T) {
	histories := forest()
	caught := func(what string, newSubject func() subject) {
		for seed := range uint64(300) {
			r := rand.New(rand.NewPCG(seed, 2))
			if err := play(histories, newSubject(), 40, func(n int, _ string) int { return r.IntN(n) }); err != nil {
				t.Logf("%s: %v", what, err)
				return
			}
		}
		t.Errorf("%s: not caught", what)
	}
	for what := range wrongFollowers(nil) {
		caught(what, func() subject {
			s := fileSubject(t, histories[0])
			s.put = func(a Anchor, checkpoint []byte, extend Extend) error {
				f := a.(*fileAnchor)
				return f.put(context.Background(), checkpoint, extend, wrongFollowers(f.base)[what])
			}
			return s
		})
	}
	for what, put := range careless() {
		caught(what, func() subject {
			s := witnessSubject(t, histories[0])
			if what == "copy not kept" {
				s = liarSubject(t, histories[0])
			}
			s.put = func(a Anchor, checkpoint []byte, extend Extend) error {
				return put(a.(*witnessAnchor), checkpoint, extend)
			}
			return s
		})
	}
}

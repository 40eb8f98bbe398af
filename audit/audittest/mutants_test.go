package audittest

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"testing"

	"github.com/iff-run/iff/audit"
)

// planted is a store in which calls are replaced by wrong ones.
type planted struct {
	audit.Store
	disk   *Memory
	mu     sync.Mutex // held by every call
	append func(context.Context, audit.Batch) error
	blocks func(context.Context, audit.Position) iter.Seq2[audit.Block, error]
	cut    func(context.Context, audit.Position) error
	load   func(context.Context, string, int) ([]byte, error)
	save   func(context.Context, string, []byte) error
	extend func(context.Context, string, int64, []byte) error
	end    func() audit.Position
	close  func() error
}

func (p *planted) Append(ctx context.Context, b audit.Batch) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.append(ctx, b)
}

func (p *planted) Blocks(ctx context.Context, from audit.Position) iter.Seq2[audit.Block, error] {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.blocks(ctx, from)
}

func (p *planted) Cut(ctx context.Context, at audit.Position) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut(ctx, at)
}

func (p *planted) Load(ctx context.Context, name string, limit int) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.load(ctx, name, limit)
}

func (p *planted) Save(ctx context.Context, name string, data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.save(ctx, name, data)
}

func (p *planted) Extend(ctx context.Context, name string, at int64, data []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.extend(ctx, name, at, data)
}

func (p *planted) End() audit.Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.end()
}

func (p *planted) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.close()
}

// refuses says whether a place is none.
func (p *planted) refuses(ctx context.Context, at audit.Position) error {
	_, err := readFrom(ctx, p.Store, at)
	return err
}

// given is a store that gives certain blocks.
type given struct {
	audit.Store
	blocks []audit.Block
}

func (g given) Blocks(context.Context, audit.Position) iter.Seq2[audit.Block, error] {
	return func(yield func(audit.Block, error) bool) {
		for _, b := range g.blocks {
			if !yield(b, nil) {
				return
			}
		}
	}
}

// with is a target whose stores have a bug.
func with(plant func(*planted)) Target {
	m := &Memory{SegmentBytes: 10_000}
	t := m.Target()
	t.Open = func() (audit.Store, error) {
		s, err := m.Open()
		if err != nil {
			return nil, err
		}
		p := &planted{Store: s, disk: m, append: s.Append, blocks: s.Blocks, cut: s.Cut, load: s.Load, save: s.Save, extend: s.Extend, end: s.End, close: s.Close}
		plant(p)
		return p, nil
	}
	t.Kill = func(s audit.Store) { m.Kill(s.(*planted).Store) }
	return t
}

// bug is planted in a store, and caught by certain checks.
type bug struct {
	caughtBy []string
	plant    func(*planted)
}

var bugs = map[string]bug{
	"the last batch is lost at closing": {[]string{"bytes come back", "the end"}, func(p *planted) {
		before := p.Store.End()
		p.append = func(ctx context.Context, b audit.Batch) error {
			before = p.Store.End()
			return p.Store.Append(ctx, b)
		}
		p.close = func() error {
			return errors.Join(p.Store.Cut(context.Background(), before), p.Store.Close())
		}
	}},
	"released before it is durable": {[]string{"killed"}, func(p *planted) {
		var waiting []audit.Batch
		flush := func() (err error) {
			for _, b := range waiting {
				err = errors.Join(err, p.Store.Append(context.Background(), b))
			}
			waiting = nil
			return err
		}
		p.append = func(ctx context.Context, b audit.Batch) error {
			err := errors.Join(ctx.Err(), flush())
			if err == nil {
				b.Lines = bytes.Clone(b.Lines)
				waiting = append(waiting, b)
			}
			return err
		}
		p.blocks = func(ctx context.Context, from audit.Position) iter.Seq2[audit.Block, error] {
			_ = flush()
			return p.Store.Blocks(ctx, from)
		}
		p.end = func() audit.Position {
			_ = flush()
			return p.Store.End()
		}
		p.close = func() error { return errors.Join(flush(), p.Store.Close()) }
	}},
	"lines in another order": {[]string{"bytes come back", "segments"}, func(p *planted) {
		p.append = func(ctx context.Context, b audit.Batch) error {
			lines := slices.Collect(bytes.Lines(b.Lines))
			slices.Reverse(lines)
			b.Lines = slices.Concat(lines...)
			return p.Store.Append(ctx, b)
		}
	}},
	"a byte is changed": {[]string{"line of 64 KiB", "reading beside writing"}, func(p *planted) {
		p.append = func(ctx context.Context, b audit.Batch) error {
			b.Lines = bytes.ReplaceAll(b.Lines, []byte{0xff}, []byte{0xfe})
			return p.Store.Append(ctx, b)
		}
	}},
	"the context is ignored": {[]string{"cancelled"}, func(p *planted) {
		p.append = func(ctx context.Context, b audit.Batch) error {
			return errors.Join(p.Store.Append(context.WithoutCancel(ctx), b), ctx.Err())
		}
	}},
	"what is cut stays": {[]string{"cut", "killed after a cut"}, func(p *planted) {
		p.cut = func(ctx context.Context, at audit.Position) error { return p.refuses(ctx, at) }
	}},
	"later segments stay at a cut": {[]string{"cut in an earlier part"}, func(p *planted) {
		p.cut = func(ctx context.Context, at audit.Position) error {
			end := p.Store.End()
			if err := p.refuses(ctx, at); err != nil || end.Segment == at.Segment {
				return errors.Join(err, p.Store.Cut(ctx, at))
			}
			return p.Store.Cut(ctx, audit.Position{Segment: end.Segment})
		}
	}},
	"a cut cuts a line more": {[]string{"cut"}, func(p *planted) {
		p.cut = func(ctx context.Context, at audit.Position) error {
			if err := p.refuses(ctx, at); err != nil {
				return err
			}
			last := at
			for b := range p.Store.Blocks(ctx, audit.Position{}) {
				for line := range bytes.Lines(b.Data) {
					if b.At.Less(at) {
						last = b.At
					}
					b.At.Offset += int64(len(line))
				}
			}
			return p.Store.Cut(ctx, last)
		}
	}},
	"audit.ErrFull after writing": {[]string{"full"}, func(p *planted) {
		p.append = func(ctx context.Context, b audit.Batch) error {
			err := p.Store.Append(ctx, b)
			if errors.Is(err, audit.ErrFull) {
				p.disk.Free(-1)
				err = errors.Join(err, p.Store.Append(ctx, b))
				p.disk.Free(0)
			}
			return err
		}
	}},
	"audit.ErrFull is final": {[]string{"full"}, func(p *planted) {
		var failed error
		p.append = func(ctx context.Context, b audit.Batch) error {
			if failed != nil {
				return failed
			}
			err := p.Store.Append(ctx, b)
			if errors.Is(err, audit.ErrFull) {
				failed = err
			}
			return err
		}
	}},
	"another error for want of room": {[]string{"full", "reserve"}, func(p *planted) {
		p.append = func(ctx context.Context, b audit.Batch) error {
			err := p.Store.Append(ctx, b)
			if errors.Is(err, audit.ErrFull) {
				err = errors.New("no")
			}
			return err
		}
	}},
	"the reserve is ignored": {[]string{"reserve", "reserve over segments"}, func(p *planted) {
		p.append = func(ctx context.Context, b audit.Batch) error {
			b.Reserve = 0
			return p.Store.Append(ctx, b)
		}
	}},
	"blocks from the beginning": {[]string{"positions", "the end"}, func(p *planted) {
		p.blocks = func(ctx context.Context, _ audit.Position) iter.Seq2[audit.Block, error] {
			return p.Store.Blocks(ctx, audit.Position{})
		}
	}},
	"nothing from a place that does not exist": {[]string{"places that are none", "stopping early"}, func(p *planted) {
		p.blocks = func(ctx context.Context, at audit.Position) iter.Seq2[audit.Block, error] {
			return func(yield func(audit.Block, error) bool) {
				for b, err := range p.Store.Blocks(ctx, at) {
					if err == nil && !yield(b, nil) {
						return
					}
				}
			}
		}
	}},
	"all in one block": {[]string{"large batches"}, func(p *planted) {
		p.blocks = joined(p.Store)
	}},
	"lines split over blocks": {[]string{"bytes come back"}, func(p *planted) {
		p.blocks = func(ctx context.Context, at audit.Position) iter.Seq2[audit.Block, error] {
			return func(yield func(audit.Block, error) bool) {
				for b, err := range p.Store.Blocks(ctx, at) {
					half := len(b.Data) / 3
					rest := audit.Block{At: audit.Position{Segment: b.At.Segment, Offset: b.At.Offset + int64(half)}, Data: b.Data[half:]}
					b.Data = b.Data[:half]
					if err != nil || !yield(b, nil) || !yield(rest, nil) {
						return
					}
				}
			}
		}
	}},
	"the blocks are the store's own": {[]string{"references"}, func(p *planted) {
		all := map[audit.Position][]byte{}
		p.blocks = func(ctx context.Context, at audit.Position) iter.Seq2[audit.Block, error] {
			return func(yield func(audit.Block, error) bool) {
				for b, err := range p.Store.Blocks(ctx, at) {
					if old := all[b.At]; err == nil && len(old) == len(b.Data) {
						b.Data = old
					}
					all[b.At] = b.Data
					if !yield(b, err) {
						return
					}
				}
			}
		}
	}},
	"the end stays where it was at a cut": {[]string{"cut"}, func(p *planted) {
		var old audit.Position
		p.cut = func(ctx context.Context, at audit.Position) error {
			old = p.Store.End()
			return p.Store.Cut(ctx, at)
		}
		p.end = func() audit.Position {
			if end := p.Store.End(); old.Less(end) {
				return end
			}
			return old
		}
	}},
	"a closed store takes a batch": {[]string{"closed"}, func(p *planted) {
		done := false
		p.close = func() error {
			done = true
			return p.Store.Close()
		}
		p.append = func(ctx context.Context, b audit.Batch) error {
			if done {
				return nil
			}
			return p.Store.Append(ctx, b)
		}
	}},
	"a second Close fails": {[]string{"closed"}, func(p *planted) {
		done := false
		p.close = func() error {
			if done {
				return errors.New("closed")
			}
			done = true
			return p.Store.Close()
		}
	}},
	"what is saved shows in halves": {[]string{"save is whole"}, func(p *planted) {
		var rest func()
		p.save = func(ctx context.Context, name string, data []byte) error {
			half := len(data) / 2
			rest = func() { _ = p.Store.Save(ctx, name, data) }
			return p.Store.Save(ctx, name, data[:half])
		}
		p.load = func(ctx context.Context, name string, limit int) ([]byte, error) {
			data, err := p.Store.Load(ctx, name, limit)
			if rest != nil {
				rest()
				rest = nil
			}
			return data, err
		}
	}},
	"what is saved is lost in a crash": {[]string{"killed"}, func(p *planted) {
		cache := map[string][]byte{}
		p.save = func(ctx context.Context, name string, data []byte) error {
			cache[name] = bytes.Clone(data)
			return ctx.Err()
		}
		p.load = func(ctx context.Context, name string, limit int) ([]byte, error) {
			if data, ok := cache[name]; ok && len(data) <= limit {
				return bytes.Clone(data), nil
			}
			return p.Store.Load(ctx, name, limit)
		}
		p.close = func() error {
			var err error
			for name, data := range cache {
				err = errors.Join(err, p.Store.Save(context.Background(), name, data))
			}
			clear(cache)
			return errors.Join(err, p.Store.Close())
		}
	}},
	"a new store begins with a line of its own": {[]string{"empty"}, func(p *planted) {
		if p.Store.End() == (audit.Position{}) {
			_ = p.Store.Append(context.Background(), audit.Batch{Lines: []byte("header\n")})
		}
	}},
	"the limit of Load is ignored": {[]string{"save"}, func(p *planted) {
		p.load = func(ctx context.Context, name string, _ int) ([]byte, error) { return p.Store.Load(ctx, name, 1<<30) }
	}},
	"one name for everything": {[]string{"save"}, func(p *planted) {
		p.save = func(ctx context.Context, _ string, data []byte) error { return p.Store.Save(ctx, "state", data) }
	}},
	"Extend keeps what was behind": {[]string{"extend"}, func(p *planted) {
		p.extend = func(ctx context.Context, name string, at int64, data []byte) error {
			old, err := p.Store.Load(ctx, name, 1<<20)
			if end := int(at) + len(data); err == nil && at >= 0 && end < len(old) {
				data = slices.Concat(data, old[end:])
			}
			return p.Store.Extend(ctx, name, at, data)
		}
	}},
	"Extend fills gaps": {[]string{"extend"}, func(p *planted) {
		p.extend = func(ctx context.Context, name string, at int64, data []byte) error {
			old, err := p.Store.Load(ctx, name, 1<<20)
			if gap := at - int64(len(old)); err == nil && gap > 0 {
				at, data = at-gap, slices.Concat(make([]byte, gap), data)
			}
			return p.Store.Extend(ctx, name, at, data)
		}
	}},
}

// joined gives all blocks of a segment as one.
func joined(s audit.Store) func(context.Context, audit.Position) iter.Seq2[audit.Block, error] {
	return func(ctx context.Context, at audit.Position) iter.Seq2[audit.Block, error] {
		return func(yield func(audit.Block, error) bool) {
			var all audit.Block
			for b, err := range s.Blocks(ctx, at) {
				if err != nil {
					yield(b, err)
					return
				}
				if all.Data != nil && b.At.Segment != all.At.Segment {
					if !yield(all, nil) {
						return
					}
					all = audit.Block{}
				}
				if all.Data == nil {
					all.At = b.At
				}
				all.Data = append(all.Data, b.Data...)
			}
			if all.Data != nil {
				yield(all, nil)
			}
		}
	}
}

// The contract must be able to fail, in each of its parts.
func TestContractCatches(t *testing.T) {
	catches := map[string]bool{}
	for what, b := range bugs {
		for _, name := range b.caughtBy {
			i := slices.IndexFunc(checks, func(c check) bool { return c.name == name })
			if i < 0 {
				t.Fatalf("%s: there is no check %q", what, name)
			}
			err := checks[i].run(t.Context(), with(b.plant))
			if err == nil {
				t.Errorf("%s: not caught by %q", what, name)
			}
			t.Logf("%s: %s: %.100v", what, name, err)
			catches[name] = true
		}
	}
	for _, c := range checks {
		if !catches[c.name] {
			t.Errorf("%q catches no planted bug", c.name)
		}
		if err := c.run(t.Context(), with(func(*planted) {})); err != nil {
			t.Errorf("%q: without a bug: %v", c.name, err)
		}
	}
}

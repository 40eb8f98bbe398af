package audittest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/iff-run/iff/audit"
)

// cutAt cuts and goes on as if what was behind had never been.
func (b *bench) cutAt(at audit.Position, offset int) error {
	if err := b.Cut(b.ctx, at); err != nil {
		return fmt.Errorf("cut at %v: %w", at, err)
	}
	if end := b.End(); end != at {
		return fmt.Errorf("cut at %v: the end is %v", at, end)
	}
	b.want = b.want[:offset:offset]
	b.next = int64(bytes.Count(b.want, []byte("\n")))
	if err := b.holds(); err != nil {
		return fmt.Errorf("cut at %v: %w", at, err)
	}
	return nil
}

// cut cuts at every line from the last to the first, each time followed by an append or a reopening.
func cut(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		if err := errors.Join(b.add(9, 100), b.add(1, 0), b.add(2, 0)); err != nil {
			return err
		}
		at, offsets, err := b.places()
		if err != nil {
			return err
		}
		for i := len(at) - 1; i >= 0; i-- {
			if err := b.cutAt(at[i], offsets[i]); err != nil {
				return err
			}
			if err := b.add(2, int64(i)); err != nil {
				return fmt.Errorf("after a cut at %v: %w", at[i], err)
			}
			if err := b.holdsAlways(); err != nil {
				return fmt.Errorf("after a cut at %v and an append: %w", at[i], err)
			}
			if err := b.cutAt(at[i], offsets[i]); err != nil {
				return err
			}
			if err := b.reopen(false); err != nil {
				return err
			}
			if err := b.holds(); err != nil {
				return fmt.Errorf("after a cut at %v, reopened: %w", at[i], err)
			}
		}
		return nil
	})(ctx, t)
}

func cutEarlier(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		for len(b.want) < 400<<10 {
			if err := b.add(40, 100); err != nil {
				return err
			}
		}
		for range 8 {
			at, offsets, err := b.places()
			if err != nil {
				return err
			}
			i := len(at) * 2 / 3
			if err := b.cutAt(at[i], offsets[i]); err != nil {
				return err
			}
			if err := b.add(1, 0); err != nil {
				return fmt.Errorf("after a cut at %v: %w", at[i], err)
			}
			if err := b.holdsAlways(); err != nil {
				return fmt.Errorf("after a cut at %v and an append: %w", at[i], err)
			}
		}
		return nil
	})(ctx, t)
}

func killed(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		if b.Kill == nil {
			return nil
		}
		for range 3 {
			for range 12 {
				if err := errors.Join(b.add(40, 5000), b.add(1, 0)); err != nil {
					return err
				}
			}
			if err := b.Save(b.ctx, "state", b.want); err != nil {
				return err
			}
			if err := b.reopen(true); err != nil {
				return err
			}
			if err := b.holds(); err != nil {
				return fmt.Errorf("killed: %w", err)
			}
			if data, err := b.Load(b.ctx, "state", len(b.want)); !bytes.Equal(data, b.want) {
				return fmt.Errorf("killed after saving %d bytes: loads %d, %v", len(b.want), len(data), err)
			}
		}
		return b.holdsAlways()
	})(ctx, t)
}

func killedAfterCut(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		if b.Kill == nil {
			return nil
		}
		for range 8 {
			if err := b.add(40, 5000); err != nil {
				return err
			}
		}
		for range 3 {
			at, offsets, err := b.places()
			if err != nil {
				return err
			}
			if err := b.cutAt(at[len(at)/2], offsets[len(at)/2]); err != nil {
				return err
			}
			if err := b.reopen(true); err != nil {
				return err
			}
			if err := b.holds(); err != nil {
				return fmt.Errorf("killed after a cut: %w", err)
			}
		}
		return nil
	})(ctx, t)
}

func (b *bench) loads(name, want string) error {
	if data, err := b.Load(b.ctx, name, len(want)); string(data) != want || err != nil {
		return fmt.Errorf("%q: loads %.60q, not %.60q: %v", name, data, want, err)
	}
	if _, err := b.Load(b.ctx, name, len(want)-1); err == nil {
		return fmt.Errorf("%q: %d bytes load within %d", name, len(want), len(want)-1)
	}
	return nil
}

func save(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		for _, text := range []string{"first", "the second, longer", "3", string(bytes.Repeat([]byte{0, '\n', 0xff}, 50000))} {
			if err := errors.Join(b.Save(b.ctx, "state", []byte(text)), b.Save(b.ctx, "other-1", []byte(text+text)), b.add(2, 10)); err != nil {
				return err
			}
			if err := errors.Join(b.loads("state", text), b.loads("other-1", text+text)); err != nil {
				return err
			}
			if err := b.holdsAlways(); err != nil {
				return err
			}
			if err := errors.Join(b.loads("state", text), b.loads("other-1", text+text)); err != nil {
				return fmt.Errorf("reopened: %w", err)
			}
		}
		return nil
	})(ctx, t)
}

// saveIsWhole loads while others save and append: what it gets is always one of the things saved, and not an older one.
func saveIsWhole(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		content := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, 1+i*1000) }
		if err := b.Save(b.ctx, "state", content(0)); err != nil {
			return err
		}
		var work sync.WaitGroup
		var saving, adding error
		work.Go(func() {
			for i := 1; i < 20 && saving == nil; i++ {
				saving = b.Save(b.ctx, "state", content(i))
			}
		})
		work.Go(func() {
			for i := 0; i < 20 && adding == nil; i++ {
				adding = b.add(3, 100)
			}
		})
		loading := b.loadWhole(content)
		work.Wait()
		if err := errors.Join(saving, adding, loading, b.loads("state", string(content(19)))); err != nil {
			return err
		}
		return b.holdsAlways()
	})(ctx, t)
}

func (b *bench) loadWhole(content func(int) []byte) error {
	newest := byte('a')
	for range 100 {
		data, err := b.Load(b.ctx, "state", 1<<20)
		if err != nil || len(data) == 0 {
			return fmt.Errorf("loads %d bytes: %v", len(data), err)
		}
		if data[0] < newest || !bytes.Equal(data, content(int(data[0]-'a'))) {
			return fmt.Errorf("loads %d bytes from %c, after %c was there", len(data), data[0], newest)
		}
		newest = data[0]
	}
	return nil
}

func extend(ctx context.Context, t Target) error {
	return started(func(b *bench) error {
		for _, step := range []struct {
			at         int64
			text, want string
		}{
			{0, "hashes", "hashes"}, {6, " and more", "hashes and more"}, {6, "!", "hashes!"}, {3, "", "has"}, {0, "new", "new"}, {3, "er", "newer"},
		} {
			if err := b.Extend(b.ctx, "tree", step.at, []byte(step.text)); err != nil {
				return fmt.Errorf("extend at %d: %w", step.at, err)
			}
			if err := b.loads("tree", step.want); err != nil {
				return err
			}
		}
		for _, at := range []int64{6, -1} {
			if err := b.Extend(b.ctx, "tree", at, []byte("x")); err == nil {
				return fmt.Errorf("extend of 5 bytes at %d", at)
			}
		}
		if err := b.Extend(b.ctx, "absent", 1, []byte("x")); err == nil {
			return errors.New("extend of nothing at 1")
		}
		if err := b.reopen(false); err != nil {
			return err
		}
		return errors.Join(b.loads("tree", "newer"), b.Save(b.ctx, "tree", []byte("saved")), b.loads("tree", "saved"),
			b.Extend(b.ctx, "tree", 5, []byte(" once")), b.loads("tree", "saved once"), b.holds())
	})(ctx, t)
}

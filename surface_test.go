package iff_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/iff-run/iff"
	"github.com/iff-run/iff/gate"
	"github.com/iff-run/iff/internal/runtime"
	"github.com/iff-run/iff/record"
)

// surface is every method of the four stages of a runtime's life, as it was
// reviewed. A new one is added here by somebody who has asked: can it load a
// skill, widen trust, raise a level or approve? Behind Lock none may.
var surface = map[any]string{
	(*iff.Boot)(nil):   "Close Load Lock Refused",
	(*iff.Locked)(nil): "Start",
	// Narrow and NarrowTo only take away; NoteRefused only counts. Forgive clears level and mark on an
	// operator's word, and Settle takes one: surfaces for agents reach a Session
	// alone. Inbox takes signed answers. Gate is for packages of this module, which
	// alone can name its parts.
	(*iff.Runtime)(nil): `Barrier Close Fence Forgive Gate Home Hooked Inbox Interrupted Narrow NarrowTo NoteRefused Open Operator Pause Profile Refused Resume
		Session Sessions Settle Skills Standing State Stop Tools Trust Unanchored Verdict VerdictBetween VerdictHeard`,
	(*iff.Session)(nil): "Agent Begin Call Close Commit Flows ID Over ReadSkill Rollback Skills Use",
}

func methods(v any) []string {
	var out []string
	for t, i := reflect.TypeOf(v), 0; i < t.NumMethod(); i++ {
		out = append(out, t.Method(i).Name)
	}
	return out
}

func TestSurfaceIsReviewed(t *testing.T) {
	for v, want := range surface {
		if got := methods(v); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%T has\n\t%s\nand was reviewed with\n\t%s", v, strings.Join(got, " "), strings.Join(strings.Fields(want), " "))
		}
		// A field would be a way past the methods.
		for e, i := reflect.TypeOf(v).Elem(), 0; i < e.NumField(); i++ {
			if f := e.Field(i); f.IsExported() && f.Type != reflect.TypeFor[*runtime.Runtime]() {
				t.Errorf("%T has the field %s", v, f.Name)
			}
		}
	}
	// The planted method is noticed.
	if slices.Equal(methods(new(elevating)), strings.Fields(surface[(*iff.Session)(nil)])) {
		t.Error("a session that elevates has the reviewed surface")
	}
}

type elevating struct{ iff.Session }

func (*elevating) Elevate() {}

// zero calls every method of a zero value with zero arguments, and gives what
// they answer: nothing may break, and nothing may succeed that does something.
func zero(t *testing.T, v any) map[string][]any {
	t.Helper()
	out := map[string][]any{}
	for m, r := reflect.ValueOf(v), reflect.TypeOf(v); len(out) < r.NumMethod(); {
		name := r.Method(len(out)).Name
		method := m.Method(len(out))
		var in []reflect.Value
		for i := range method.Type().NumIn() {
			if method.Type().In(i).String() == "context.Context" {
				in = append(in, reflect.ValueOf(t.Context()))
				continue
			}
			in = append(in, reflect.Zero(method.Type().In(i)))
		}
		got := []any{}
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%T.%s breaks: %v", v, name, p)
				}
			}()
			for _, o := range method.Call(in) {
				got = append(got, o.Interface())
			}
		}()
		out[name] = got
	}
	return out
}

func TestZeroValuesFailClosed(t *testing.T) {
	harmless := strings.Fields("Boot.Close Boot.Refused Runtime.Unanchored")
	for _, v := range []any{new(iff.Boot), new(iff.Locked), new(iff.Runtime), new(runtime.Runtime), new(iff.Session)} {
		for name, got := range zero(t, v) {
			kind := reflect.TypeOf(v).Elem().Name()
			for i, o := range got {
				last := i == len(got)-1 && reflect.TypeOf(v).Elem() != nil
				method, _ := reflect.TypeOf(v).MethodByName(name)
				if isError := method.Type.Out(i) == reflect.TypeFor[error](); last && isError && o == nil && !slices.Contains(harmless, kind+"."+name) {
					t.Errorf("%s.%s of a zero value succeeds", kind, name)
				}
			}
		}
	}
	if r := new(iff.Session).Call(t.Context(), iff.Call{Capability: "fs.read", Target: "a.md"}); r.Status != gate.Refused || r.Reason != gate.SessionUnknown {
		t.Errorf("%+v", r)
	}
	if _, err := new(runtime.Runtime).Trust().Signer("me", someTime); err == nil {
		t.Error("it trusts somebody")
	}
	select {
	case <-new(iff.Session).Over():
	default:
		t.Error("a zero session goes on")
	}
	if r, err := iff.Judge(t.Context(), nil, iff.Asked{}, someTime); err == nil || r.Result == record.Pass {
		t.Error("nothing is judged as PASS")
	}
	if r, err := runtime.Judge(t.Context(), runtime.Case{}); err == nil || r.Result == record.Pass {
		t.Error("nothing is judged as PASS")
	}
	if _, err := runtime.Start(t.Context(), runtime.Parts{}); err == nil {
		t.Error("a runtime without parts starts")
	}
	if _, err := iff.Bootstrap(t.Context(), "", iff.Options{}); err == nil {
		t.Error("no home is booted")
	}
	if _, err := new(iff.Boot).Lock(); !errors.Is(err, iff.ErrLocked) {
		t.Error(err)
	}
}

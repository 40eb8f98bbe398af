package canonical

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/gowebpki/jcs"
)

func seed(f *testing.F) {
	for _, r := range append(refusedTyped(), refusedAnywhere...) {
		if doc, _ := r.split(); len(doc) < 1<<10 {
			f.Add(doc)
		}
	}
	for _, c := range appendix {
		f.Add([]byte(c.text))
	}
	f.Add([]byte(whole))
	f.Add([]byte(`{"a":[{"b":1e2,"\u0061":"\ud83d\ude00"},null,-0.5,"\/"],"\ue000":0,"\ud800\udc00":1}`))
}

// lenientOK says that the only thing another decoder may hold against a
// document which Parse took is an integer written as 1.0 or 1e2.
func lenientOK(err error) bool {
	var v1 *json.UnmarshalTypeError
	var v2 *jsonv2.SemanticError
	return errors.As(err, &v1) && bytes.HasPrefix([]byte(v1.Value), []byte("number")) ||
		errors.As(err, &v2) && v2.JSONKind == '0'
}

// FuzzParse: a document is refused, with a place inside it and nothing stored,
// or the lenient decoders of others read the same value from it.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		var got everything
		err := Parse(data, &got, Limits{})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(len(data)) || !reflect.DeepEqual(got, everything{}) {
				t.Fatalf("%q: %v, %+v", data, err, got)
			}
			return
		}
		if err := Check(data, Limits{}); err != nil {
			t.Fatalf("%q: Parse took what Check refuses: %v", data, err)
		}
		var v1, v2 everything
		if err := json.Unmarshal(data, &v1); err != nil && !lenientOK(err) || err == nil && !reflect.DeepEqual(v1, got) {
			t.Fatalf("%q: read %+v; encoding/json read %+v, %v", data, got, v1, err)
		}
		err = jsonv2.Unmarshal(data, &v2, jsonv2.RejectUnknownMembers(true))
		if err != nil && !lenientOK(err) || err == nil && !reflect.DeepEqual(v2, got) {
			t.Fatalf("%q: read %+v; json/v2 read %+v, %v", data, got, v2, err)
		}
		out, err := Marshal(got)
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		var again everything
		if err := Parse(out, &again, Limits{Bytes: len(out)}); err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("%q: %s: %v", data, out, err)
		}
	})
}

// FuzzTransform: a document is refused with a place inside it, or has a form
// that is stable, that an independent implementation agrees with, and that
// reads the same as the document for a lenient decoder.
func FuzzTransform(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		checked := Check(data, Limits{})
		out, err := Transform(data, Limits{})
		if !bytes.Equal(data, before) {
			t.Fatalf("%q became %q", before, data)
		}
		var e *Error
		if err != nil {
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > int64(len(data)) || e.Detail == "" {
				t.Fatalf("%q: %v", data, err)
			}
			if (checked == nil) != (e.Reason == TooLarge && len(data) <= 1<<20) {
				t.Fatalf("%q: Check says %v, Transform %v", data, checked, err)
			}
			return
		}
		if checked != nil {
			t.Fatalf("%q: Check says %v, Transform %s", data, checked, out)
		}
		if again, err := Transform(out, Limits{}); err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q: %s became %s, %v", data, out, again, err)
		}
		if other, err := jcs.Transform(data); err != nil || !bytes.Equal(other, out) {
			t.Fatalf("%q: got %s, jcs %s, %v", data, out, other, err)
		}
		var a, b any
		if err := errors.Join(json.Unmarshal(data, &a), json.Unmarshal(out, &b)); err != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("%q reads as %v, %s as %v, %v", data, a, out, b, err)
		}
	})
}

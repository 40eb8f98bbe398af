package shellread
import "mvdan.cc/sh/v3/syntax"
func (w *words) arguments(s *syntax.Stmt) []field {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(s.Redirs)>0 { return nil }
	var out []field
	for _, x := range call.Args { out = append(out, w.fields(x)...) }
	return out
}

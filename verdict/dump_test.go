package verdict_test
import ("testing";"os";"strconv";"github.com/iff-run/iff/verdict/verdicttest")
func TestDump(t *testing.T){ n,_:=strconv.ParseUint(os.Getenv("SEED"),10,64); l:=verdicttest.Random(n); t.Log("\n"+l.String()); t.Log(verdicttest.Compare(l)); r:=l.Judge(); for _,f:=range r.Findings{t.Logf("%+v",f)} }

package record

// KindRefused is what was refused before it could become a call.
const KindRefused Kind = "refused"

// Channel is the way on which an agent speaks to a runtime.
type Channel string

// The channels.
const (
	ChannelAgent Channel = "agent" // agent.sock
	ChannelMCP   Channel = "mcp"   // mcp.sock, and standard input through it
	ChannelHTTP  Channel = "http"  // MCP over HTTP
)

var channels = []Channel{ChannelAgent, ChannelMCP, ChannelHTTP}

// Refused says that messages of an agent were answered with a refusal and became
// no call: what cannot be read, what there is too much of, what is out of its
// turn. It carries nothing of what was sent. Its record has the session, if the
// agent had one.
type Refused struct {
	Agent   string // principal; empty where nobody knows who it is
	Channel Channel
	Count   int64  // messages that no record before it counts, 1 or more
	Reason  string // closed token
}

func (b *Refused) walk(c *codec) {
	c.open()
	c.optText("agent", &b.Agent)
	token(c, "channel", &b.Channel, channels)
	c.int("count", &b.Count)
	c.text("reason", &b.Reason)
	c.close()
}

// Package mcpgate speaks the Model Context Protocol to agents. It parses and renders; what is asked for is a call of the gate, decided
// and recorded like any other. docs/mcp.md teaches it to people.
//
// # Ways in
//
//	mcp.sock     a connection is a session; [Gateway.ServeConn], for the sockets of package serve
//	iff mcp      copies an agent's standard input and output to mcp.sock; [Relay]
//	HTTP         streamable HTTP on a loopback address with a bearer token; [Gateway.Serve]
//
// The SDK speaks the versions 2024-11-05 to 2025-11-25, which begin with initialize, and 2026-07-28, in which each request says who
// sends it. Over a socket both can be spoken; over HTTP the header Mcp-Protocol-Version says which. A session of the runtime begins with
// initialize or with the first request that needs one, and ends with its connection, or with the session over HTTP; requests of
// 2026-07-28 over HTTP share one for each token, which ends when none came for half an hour.
//
// The principal is that of the connection, "uid-1000", or "http-" and the name of the token. What a client says of itself is shown to
// people. Level and mark belong to the principal: who connects again has those it had.
//
// # Frames
//
// Each message is read strictly by package canonical before the SDK sees it, and the SDK sees its canonical form, so that nobody reads
// anything else than what was checked: 2 MiB, 32 deep, no duplicate keys nor keys that differ in case alone, UTF-8, numbers that a
// float64 holds, no batches, ids that are whole numbers or short strings and not in flight already. What is refused is answered by an
// error whose data have a reason; the connection goes on, but after 32 MiB more of a line, or 30 s of one.
//
// # The short way
//
// Over a socket a tools/call goes past the SDK, which would read it three times more, once the SDK has let a call pass on that connection.
// It has been read strictly by then, like each message. It goes the short way if
//
//   - its params are name, arguments and _meta and nothing else, of the right types, and the name is not empty;
//   - of _meta, the members whose names begin with io.modelcontextprotocol/ (the version, who the client is, what it can do) are the
//     same, byte for byte in canonical form, as those of the latest call that came through the SDK, none more and none less;
//   - a progressToken is a string or a number.
//
// Everything else is the SDK's, which says what is wrong with it. So the short way lets nothing pass that the SDK would not: what the SDK
// looks at beyond the form of a call is the version and those members, and of just them it has let the same pass on this connection. That a connection
// has begun is implied, for before that the SDK lets no call pass. Arguments it does not judge; names of tools, labels, capabilities and
// decisions are the gateway's and the runtime's on both ways, in the same functions, as are the bounds on what is in flight,
// cancelling, and the answer. Over HTTP there is no short way. FuzzDirect holds both ways against each other.
//
// Notifications other than initialized and cancelled do nothing and go no further. So do answers, unless a question of an upstream server
// waits for one. The gateway itself asks a client nothing, and inputResponses are not looked at. Nothing that comes from an agent's side is
// ever taken for a person's word.
//
// # Upstream servers during a call
//
// [Gateway.Clients] tells the client that waits for a call what the upstream that does it says: its progress, as one row of growing numbers
// with that of waiting, if the client gave a token; its logs, from the level on that the client has set. A question goes to the client that
// waits for the call if it declared that it answers such, up to version 2025-11-25, and only if what the session has read may flow to the
// upstream; that is looked at again before the answer goes there. The answer is the upstream's and approves nothing.
//
// # Tools
//
// The runtime's own come first, then those of the [ToolSource] under their own names, defined as they define them; of two with one name
// the first is offered. A use is a call: its reply is the result, in words as content and as {status, request, reason, message, result,
// allowed} in structuredContent, and isError unless it is done, staged or pending. What an upstream's tool answers is passed on as it
// is. A denial is a result: the model is meant to read it. Files of skills are resources too, iff-skill://NAME/PATH; reading one is
// recorded as delivering it.
//
// # Waiting
//
// While a call is under way its client gets progress, if it gave a token, every 5 s. If a person is being asked and [Options].Wait has
// passed, the client is told the status pending; the call goes on. A client that cancels a call that is being asked about takes the
// question back, which is a denial, unless another one waits for the same. One that is not asked about goes on; if it comes to be asked
// about, and nobody has come for it meanwhile, it is taken back then. What is staged by then is not: its commit asks.
//
// Of identical calls (capability, target, arguments) of one session one is under way at a time. A second one attaches to the first and takes
// its reply: whether the first waits for a person, was told pending, was cancelled and has not settled, or is just being done, and whichever
// came first, the cancellation or the second. What was taken back and is denied by that is asked anew; what was taken back too late,
// because somebody had answered, is not done again. A reply that nobody heard is kept for 10 minutes; 64 of them are, and what is under way
// besides. Reads have no effect: they are done again, but for those that a person was asked about. A reply that was sent is told, though
// a cancellation may have crossed it; what then comes is a new call.
//
// end_round commits what is staged, which may ask, and takes a barrier. So does a session in which nothing was under way for
// [Options].Idle since something was done. At its end a session takes back what is being asked, commits what is staged, and is closed;
// when the runtime ends, what is staged is dropped.
//
// # Limits
//
//	message             2 MiB, 32 deep, 30 s; lines above 64 KiB share 64 MiB with those of other connections
//	in flight           64 requests and 16 MiB of them for a connection, 64 MiB for all; over HTTP 256 requests
//	result              8 MiB of an upstream, 3 MiB of a native call, beyond which it is left out
//	taking an answer    30 s
//	after its half      a client that has ended its half of a connection is answered for 5 s more
//	sessions            as many as package serve admits connections; over HTTP 1024
package mcpgate

// Package tool is the host for the tools of other MCP servers, the upstreams: it
// runs or reaches them, says what a call of a tool is, and passes calls on.
//
// # Calls
//
// A call of an upstream's tool has the arguments
//
//	via        server/tool, as the configuration and the server call them
//	schema     hash of the tool's schema, 64 hexadecimal digits
//	arguments  what the tool is given
//
// and whatever capability and target its mapping makes of them. [Host.Call] makes
// them from what an agent sends. [Host.Touches] makes them again, from the
// arguments alone, and refuses a call whose capability or target are others: an
// agent cannot choose a softer one. [Host.Over] routes calls with via here, all
// others to the native hosts.
//
// # Mappings
//
// A [Rule] says what one tool is. Without one a call is tool.invoke of
// server/tool, irreversible and opaque. In a template {word} is an argument: a
// string, or where the template is nothing else and names paths, an array of
// strings, each of which is touched. What is missing or something else is refused
// with arguments-invalid. By the shape of the capability:
//
//	path    {word} alone: an absolute path below the root of a corpus. [Host.Call]
//	        makes an absolute one of a relative one, from the server's directory,
//	        and cleans it, so that the server is given just one spelling.
//	        Otherwise the text is a target, and a word one segment of it.
//	host    a host with or without a port, or an http or https URL
//	argv    words between spaces; an argument stays one word
//	name, amount  the text
//
// Without a {word} a template is the same for every call, and is looked at when the
// configuration is read. An object is named as grants name it, or by an absolute
// path; where the server runs has no part in it. One that begins with ~ is refused.
//
// What a tool with a target of its own is given beside what its templates read
// would widen the call: a text may name an object, whatever it and its argument are
// called, and so may a member of an object. So such a call is refused with
// arguments-invalid, unless there are only numbers, booleans and null in it, at any
// depth. [Rule].Takes lists what may be given besides, whatever it holds, which is
// the operator's word that it names nothing; then nothing else may. A call of
// tool.invoke is of the tool with whatever arguments, and may have any.
//
// # Reach
//
// An exact tool equals a native call, the plan, which the host for files plans:
// the same changes, objects and states. A bounded one changes the target and what
// also names, and nothing else; what it leaves is not known. An opaque one changes
// nothing that is observed. fs.write.irrev is at least bounded; fs.write.rev is not
// mapped, for an upstream cannot take back. What the host for files would refuse
// is refused: links, mount points, second names, volatile objects. So is what the
// session has staged, for the upstream would not see it.
//
// That an upstream touches nothing else is the operator's word. What it changes
// of a corpus beside its plan the observer sees, and the verdict says.
//
// # What is told
//
// One JSON object: content, structuredContent, isError, _meta, as the server sent
// them, up to [MaxResult]; content that does not fit is left out with a note. A
// result with isError is a result, except of an exact tool: there it says that the
// plan was not carried out, and is the error upstream-refused.
//
// # Errors
//
//	upstream-down     it cannot be reached or started; nothing was sent
//	upstream-died     it ended before it answered
//	upstream-overdue  it did not answer in time
//	upstream-garbage  what it sent is no answer: see Frames
//	upstream-refused  it answered with an error, or asked for input
//	tool-changed      its schema is not the one that is pinned
//	tool-unknown      there is no such tool, server, or name
//
// After a call was sent, died, overdue and garbage mean that nobody knows what it
// did; the error says so. A call is sent once, never again.
//
// # Schemas
//
// The hash of a tool is the SHA-256 of the RFC 8785 form of {inputSchema, name}.
// The first that is seen is pinned and recorded. When another one comes the tool is
// evicted: recorded, not offered, its calls refused with tool-changed, until
// [Host.Accept]. Tools are listed when a server is connected, when it says that
// they changed, and before a call when the list is older than a minute; less and less
// often, up to once a minute, while it goes on changing. No more than 1,024 different
// tools of one server are taken while iff runs. A name
// that another server's tool has, by its pin, is not offered: give one a prefix.
//
// # Frames
//
// What a server sends is read by frames of at most [MaxFrame] and checked by
// package canonical, nested at most 64 deep, before the SDK decodes it. A frame
// that is not JSON, or a batch, ends the connection; a value that JSON readers
// disagree about fails the call that it answers. Notifications beyond 50 a second
// are dropped; more than 50 requests end the connection.
//
// # The short way
//
// To a program with which a version with sessions was agreed (2025-11-25 or older), a call of a tool is written past the SDK, and its
// answer is read past it. Connecting, lists, other methods, servers over HTTP and newer versions are the SDK's.
//
// The request has jsonrpc, an id, the method, name, arguments, and a progressToken if somebody wants progress: what the SDK would write.
// The arguments are the approved bytes. Its id is above 2^30, where the SDK, which counts from one, does not come; so neither
// takes an answer that is the other's.
//
// An answer goes the short way if it is read strictly, by the bounds of every frame, and has jsonrpc "2.0", such an id and a
// result that is not null, and no other member. Everything else, errors among it, goes through the SDK's reader, and so does what
// the strict one refuses: there it fails the call, or ends the connection. An answer that nobody waits for is dropped on both ways.
// The SDK is given an empty result in the place of any that is wanted as it was sent, so it judges none of them; what a result has
// to be is looked at after both ways, by the same code. FuzzLands and FuzzSent hold both ways against each other.
//
// # During a call
//
// Progress is passed on to the [Client] of the call whose token it has, logs to
// that of the latest call of the only session that has any under way, each up to
// 20 a second, bounded and without controls, in order and before the answer. A
// request that was not answered counts as under way for 10 minutes.
//
// Requests of a server other than ping are refused, but for those that
// [Server].Relay names: a question for sampling or elicitation goes to the client of
// the latest call of the only session that has any under way; else it is declined.
// Up to 16 in one call; its outcome says how many. What a person reads begins with
// "upstream NAME asks: ". Roots there are none.
//
// # Processes
//
// A program is an absolute path, or is looked up once in [Path]. It has its own
// process group, which is killed when it is closed, and of the environment PATH,
// HOME, LANG and what is configured. Of its standard error the last 8 KiB are
// kept for [Host.States]. What leaves its process group is not killed.
//
// A server that is down is tried again at the next use, after 1 s, 2 s, up to a
// minute. One that is overdue has to answer a ping before it is used again.
//
// # HTTP
//
// https, or http to this machine. No proxy, no redirect, no HTTP/2, no second
// try; the token is read from its file at every connection. With a pin the
// server's public key has to be it, and no authority is asked.
package tool

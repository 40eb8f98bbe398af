package tool

import (
	"slices"

	"github.com/iff-run/iff/gate"
)

// Ready is a mapping that comes with iff, by its name: what the tools of a server
// that many use are. A tool that is not in it is tool.invoke.
func Ready(name string) ([]Rule, bool) {
	rules, ok := ready[name]
	return slices.Clone(rules), ok
}

// ready holds what is in doubt for the worse. Two kinds of tools stand in no
// mapping, for no capability says what they do: those that tell of a whole tree,
// where a grant names one object (directory_tree, search_files,
// list_directory_with_sizes), and all of git, memory: what they read and change is
// not where a corpus would have it, or not said beforehand.
var ready = map[string][]Rule{
	"server-filesystem": {
		{Name: "read_file", Capability: "fs.read", Target: "{path}", Takes: []string{"head", "tail"}},
		{Name: "read_text_file", Capability: "fs.read", Target: "{path}", Takes: []string{"head", "tail"}},
		{Name: "read_media_file", Capability: "fs.read", Target: "{path}", Takes: only},
		{Name: "read_multiple_files", Capability: "fs.read", Target: "{paths}", Takes: only},
		{Name: "list_directory", Capability: "fs.read", Target: "{path}", Op: "list", Takes: only},
		{Name: "get_file_info", Capability: "fs.read", Target: "{path}", Op: "stat", Takes: only},
		// It replaces the file by another one, with the mode, but neither the owner
		// nor the attributes of the old; so it is not the native write.
		{Name: "write_file", Capability: "fs.write.irrev", Target: "{path}", Takes: []string{"content"}},
		// It answers with a diff, so it tells of the file as well.
		{Name: "edit_file", Capability: "fs.write.irrev", Target: "{path}", Reads: []string{"{path}"}, Takes: []string{"edits", "dryRun"}},
		// The mode of the directory is up to the server's umask.
		{Name: "create_directory", Capability: "fs.write.irrev", Target: "{path}", Op: "mkdir", Takes: only},
		// rename(2), which keeps all that counts.
		{Name: "move_file", Capability: "fs.write.irrev", Target: "{source}", Reach: gate.Exact, Plan: map[string]string{"op": "rename", "to": "{destination}"}, Takes: only},
	},
	// The server follows redirects and asks for robots.txt; native net_fetch does not.
	"fetch": {
		{Name: "fetch", Capability: "net.egress", Target: "{url}", Takes: []string{"max_length", "start_index", "raw"}},
	},
	"git": {
		{Name: "git_status"}, {Name: "git_diff_unstaged"}, {Name: "git_diff_staged"}, {Name: "git_diff"}, {Name: "git_commit"}, {Name: "git_add"},
		{Name: "git_reset"}, {Name: "git_log"}, {Name: "git_create_branch"}, {Name: "git_checkout"}, {Name: "git_show"}, {Name: "git_branch"},
	},
	"memory": {
		{Name: "create_entities"}, {Name: "create_relations"}, {Name: "add_observations"}, {Name: "delete_entities"}, {Name: "delete_observations"},
		{Name: "delete_relations"}, {Name: "read_graph"}, {Name: "search_nodes"}, {Name: "open_nodes"},
	},
}

// only is a list of arguments that none is in: those in templates alone.
var only = []string{""}

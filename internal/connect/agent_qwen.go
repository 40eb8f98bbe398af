package connect

import "strings"

var qwenDeny = strings.Fields(`run_shell_command read_file write_file edit notebook_edit glob grep_search list_directory web_fetch
	web_search skill agent task list_agents send_message task_stop monitor cron_create cron_list cron_delete lsp enter_plan_mode
	exit_plan_mode enter_worktree exit_worktree todo_write get_goal update_goal propose_goal workflow save_memory read_many_files
	computer_use ask_user_question list_mcp_resources read_mcp_resource loop_wakeup record_artifact report_findings zoom_image`)

func qwen() Agent {
	return Agent{
		Name: "qwen", Title: "Qwen Code", Program: "qwen",
		targets: func(p Place, l Level) []target {
			path := map[Level]string{User: p.home(".qwen/settings.json"), Project: p.dir(".qwen/settings.json"), Managed: p.etc("qwen-code/settings.json")}[l]
			return []target{{path: path, format: commented, ops: func(t tree) []op { return qwenOps(p, t) }}}
		},
		skills:  func(p Place) []string { return under([]string{p.Dir, p.Home}, ".agents/skills", ".qwen/skills") },
		control: qwenControl,
		open:    qwenOpen,
	}
}

// trustedServer is iff as Qwen Code and Gemini CLI have it.
func trustedServer(p Place) Object {
	return Object{{"command", p.Iff}, {"args", p.Args()}, {"trust", true}, {"timeout", hour * 1000}}
}

func qwenOps(p Place, t tree) []op {
	var out []op
	if len(t) == 0 {
		out = append(out, set(4, "$version"))
	}
	return append(out,
		set(trustedServer(p), "mcpServers", "iff"),
		set([]string{"iff"}, "mcp", "allowed"), set(hour*1000, "mcp", "toolIdleTimeoutMs"),
		set(true, "disableAllHooks"),
		with([]string{"project", "user", "extension", "bundled"}, "skills", "disabledLevels"),
		with([]string{"mcp__iff"}, "permissions", "allow"),
		with(qwenDeny, "permissions", "deny"),
		with(qwenDeny, "tools", "disabled"))
}

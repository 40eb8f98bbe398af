package main

// reasonRow says of one closed token what it means and what to do about it.
type reasonRow struct {
	token   string
	meaning string // one sentence
	remedy  string // one imperative line, the last one of an error
}

// reasonGroup is the rows that arise in one place.
type reasonGroup struct {
	title string
	about string // one sentence
	rows  []reasonRow
}

// remedyFor returns what to do about a reason, empty for a token that is not
// in the table.
func remedyFor(token string) string {
	for _, g := range reasons {
		for _, r := range g.rows {
			if r.token == token {
				return r.remedy
			}
		}
	}
	return ""
}

// reasons is every token for which something is refused. docs/reasons.md is
// made from it; a test compares it with what the packages declare.
var reasons = []reasonGroup{
	{"Reading a directory", "Links are not followed, and nothing but regular files and directories is read, within limits.", []reasonRow{
		{"file-link", "A symbolic link is where a file or directory should be.", "put a copy of what it points to in its place"},
		{"file-special", "A device, FIFO or socket is among the files.", "remove it; only regular files and directories are read"},
		{"file-mount", "Another file system or a bind mount starts inside the directory.", "unmount it, or put a copy of its content in its place"},
		{"file-changing", "A file or directory changed while it was read.", "stop what writes there, then run the command again"},
		{"file-too-large", "A file is larger than is read.", "make it smaller, or keep it outside the directory"},
		{"file-name", "A file name is too long, is not UTF-8, or holds characters that people cannot see.", "rename the file, and change what refers to it"},
		{"file-unreadable", "A directory or file could not be opened or read.", "check the path and its permissions, then run the command again"},
		{"too-many-entries", "A directory has more entries than are read.", "move out what does not belong there"},
		{"too-many-files", "A skill has more files, or a folder more directories, than are read.", "move out what is not part of the skill, such as caches and builds, or name a smaller folder"},
		{"content-too-large", "The files of a skill are larger together than is read.", "move out what is not part of the skill, such as models, archives and builds"},
		{"directory-too-deep", "The directories of a skill are nested deeper than is read.", "move the inner directories further up"},
		{"name-twin", "Two names differ only in case or Unicode form, so that some systems take them for one.", "rename one of them, and change what refers to it"},
		{"not-a-directory", "There is something else where a directory should be.", "name the directory"},
		{"not-a-file", "There is a directory where a file should be.", "name the file, or remove the directory"},
		{"not-found", "There is no such file or directory.", "check the spelling"},
		{"no-access", "The permissions do not allow it to be read.", "grant read permission to the user that iff runs as"},
		{"read-failed", "The operating system could not read it.", "check the disk, then run the command again"},
	}},
	{"SKILL.md", "Most of what differs from the specification is a finding; these leave nothing to believe.", []reasonRow{
		{"skillmd-missing", "The directory has no SKILL.md, so it is not a skill.", "name a directory that has one, or write one with a name and a description"},
		{"skillmd-too-large", "SKILL.md, or its frontmatter, is larger than is read.", "keep the instructions short; details go in files that SKILL.md names"},
		{"skillmd-not-utf8", "SKILL.md is not UTF-8 text.", "convert it, such as: iconv -f WINDOWS-1252 -t UTF-8"},
		{"skillmd-nul", "SKILL.md holds a NUL.", "take it out with an editor, or get the file from its source again"},
		{"frontmatter-missing", "SKILL.md does not begin with frontmatter.", "mend SKILL.md or tell its author, then: iff skill inspect DIR"},
		{"frontmatter-unclosed", "The frontmatter of SKILL.md does not end.", "mend SKILL.md or tell its author, then: iff skill inspect DIR"},
		{"frontmatter-invalid", "The frontmatter of SKILL.md is not one YAML mapping, even after repairs.", "mend the YAML on that line, then: iff skill inspect DIR"},
		{"description-missing", "SKILL.md does not say what the skill does.", "mend SKILL.md or tell its author, then: iff skill inspect DIR"},
		{"name-unusable", "The name in SKILL.md has no letter or digit to identify the skill by.", "write a name of letters, digits and hyphens in SKILL.md"},
		{"name-reserved", "The skill is named base, which is the operator's manifest without content.", "write another name in SKILL.md"},
	}},
	{"Step 1: the manifest", "It is read strictly; the reasons of labels, grants and JSON arise here too.", []reasonRow{
		{"manifest-missing", "The skill has no manifest: nobody has adopted or signed it here.", "read it: iff skill inspect DIR; then take it in: iff skill adopt DIR"},
		{"schema-unknown", "A manifest or trust document is in a format that this version does not read.", "use the version that wrote it, or a newer one: iff version"},
		{"name-invalid", "The manifest's name is not lower-case letters, digits and single hyphens.", "correct the name in skill.iff.json, then: iff skill sign DIR"},
		{"version-invalid", "The manifest's version is not a whole number from 1 to 2^53-1.", "leave the version to iff, or give the next one: iff skill sign --version N DIR"},
		{"summary-invalid", "The summary is longer than 300 characters, or holds some that people cannot see.", "shorten it to one visible line: iff skill sign --summary TEXT DIR"},
		{"level-unknown", "The verification level is none of the four.", "write unverified or declared; tested and formal need evidence"},
	}},
	{"Step 2: the signer", "The trust root says whose word counts, and until when.", []reasonRow{
		{"signer-unknown", "The signer is not in the trust root.", "see who is: iff trust show; to trust this one: iff trust add KEY --id ID"},
		{"signer-revoked", "The signer's authority was revoked, which is for good.", "see when and why: iff trust show; what it signed can be signed anew: iff skill sign DIR"},
		{"signer-expired", "The signer's last day has passed.", "sign with a key that is valid: iff skill sign --key NAME DIR"},
	}},
	{"Step 3: the signature", "Content and manifest are as the signer signed them, and nothing newer was seen.", []reasonRow{
		{"signature-missing", "There is a manifest without a signature, or neither.", "sign it: iff skill sign DIR; or draft it anew: iff skill adopt --replace DIR"},
		{"signature-malformed", "The signature file is damaged, or in another format.", "restore skill.iff.sig, or sign again: iff skill sign DIR"},
		{"signature-invalid", "The signature is not the signer's over this manifest and content.", "get the skill from its signer again; or read it and take it in: iff skill adopt --replace DIR"},
		{"signature-encoding", "A signature is not 88 characters of padded standard base64.", "restore the file from a copy"},
		{"manifest-changed", "The manifest is not the one that was signed.", "if the edit is meant: iff skill sign --edited DIR, or iff skill adopt --edited DIR"},
		{"content-changed", "A file is not as it was signed.", "see what changed: iff skill diff DIR; if it is meant: iff skill sign DIR, or iff skill adopt --replace DIR"},
		{"version-replayed", "A newer version of this skill was seen.", "get the newer one; if this one is meant: iff skill sign DIR, or iff skill adopt --replace DIR"},
		{"version-equivocal", "This version was seen with other content or another manifest.", "put the other back; if this one is meant: iff skill sign DIR, or iff skill adopt --replace DIR"},
	}},
	{"Steps 4 to 7: labels, level, the set", "What is genuine may still be more than its signer may sign, or than you may use.", []reasonRow{
		{"label-above-signer", "The skill's label is not within what its signer may sign.", "lower it: iff skill sign --label LABEL DIR; or use another key: iff skill sign --key NAME DIR"},
		{"label-above-operator", "The skill's label is not within the operator's clearance.", "lower it: iff skill sign --label LABEL DIR; or raise operator.clearance in iff.toml"},
		{"level-above-signer", "The skill claims a level that its signer may not attest.", "attest less: iff skill sign --level LEVEL DIR; or use another key: iff skill sign --key NAME DIR"},
		{"evidence-unavailable", "The skill claims a level that needs evidence, which this version can neither make nor check.", "attest what you have examined: iff skill sign --level declared DIR"},
		{"name-taken", "Another skill of the same name is loaded, or was adopted from another directory.", "write another name in one SKILL.md, then: iff skill adopt DIR"},
		{"set-frozen", "The set of skills of a session does not change once it has begun.", "start a new session"},
	}},
	{"Adopting and signing", "What is refused before anything is written.", []reasonRow{
		{"already-signed", "The skill comes with a manifest that does not load here.", "see why: iff skill verify DIR; to drop that manifest: iff skill adopt --replace DIR"},
		{"key-not-in-trust", "The key is not in the trust root, so nothing it signs would load.", "enter it: iff trust add KEY --level LEVEL; or use another: iff skill sign --key NAME DIR"},
		{"adopter-gone", "The adopter of this home is revoked or has expired.", "vouch for the skill yourself: iff skill sign DIR"},
		{"key-unprotected", "A key without a passphrase may neither attest above unverified nor approve.", "make one with a passphrase: iff key new NAME; then enter it: iff trust add NAME"},
		{"directory-not-writable", "The directory cannot be written, and holds a manifest that would have to be replaced.", "copy the skill elsewhere, then adopt the copy: iff skill adopt --replace DIR"},
	}},
	{"The trust root", "A chain of documents, each signed by the root key, that only grows.", []reasonRow{
		{"trust-malformed", "A trust document cannot be read.", "restore the home's trust directory from a copy"},
		{"trust-empty", "There is no trust document.", "restore the home's trust directory from a copy, or make a new home: iff init --home DIR"},
		{"trust-too-many", "There are more documents, signers or revocations than a trust root holds.", "make a new home with the signers that are still needed: iff init --home DIR"},
		{"trust-signature", "A trust document is not signed by the root key that it names.", "restore that document from a copy; do not sign it again"},
		{"trust-version-gap", "A trust document does not follow the one before it by one.", "restore the missing documents of the home's trust directory"},
		{"trust-previous", "A trust document does not follow from the one before it as it stands.", "restore both documents from a copy"},
		{"trust-root-changed", "The trust chain, iff.toml, the records and keys/root.key do not agree on the root key.", "restore all of them from one copy of the home, and find out who changed one"},
		{"trust-scheme-changed", "A trust document has another label scheme than the one before it.", "keep the scheme; for another one make a new home: iff init --home DIR --scheme FILE"},
		{"trust-entry-dropped", "A trust document lacks a signer or revocation that the one before it had.", "restore the document from a copy; to end a signer: iff trust revoke ID"},
		{"trust-entry-changed", "A trust document changes or moves a signer that the one before it had.", "restore the document from a copy; to change a signer: iff trust revoke ID, then iff trust add KEY --id ID"},
		{"trust-nothing-new", "A trust document adds neither a signer nor a revocation.", "remove that document"},
		{"trust-unsigned", "The trust root has changes that the root key has not signed.", "sign them, or leave them out"},
		{"trust-locked", "The trust root is locked: during a session it can be narrowed, not widened.", "start again to change who is trusted"},
		{"trust-rolled-back", "The trust chain is older than, or other than, what the records say.", "restore the home's trust directory from its newest copy, and find out who set it back"},
		{"signer-id-invalid", "A signer id or key name is not of the allowed form.", "choose another, such as ops-2026"},
		{"signer-duplicate", "The signer id is in the trust root already.", "choose another: iff trust add KEY --id ID"},
		{"key-duplicate", "The key is in the trust root already, under another id or as the root key.", "make another key: iff key new NAME"},
		{"adopter-level", "An adopter, whose key has no passphrase, may attest unverified only and approve nothing.", "enter a key with a passphrase instead: iff key new NAME, then iff trust add NAME"},
		{"not-after-invalid", "The last day of a signer is neither a date nor never.", "write it so: iff trust add KEY --not-after 2027-01-31"},
		{"revocation-invalid", "A revocation's time or reason is not of the allowed form.", "give the reason as one line of at most 200 bytes: iff trust revoke ID --why TEXT"},
	}},
	{"Keys and passphrases", "Only Ed25519 keys sign here, those of OpenSSH included.", []reasonRow{
		{"key-missing", "There is no key of this name, nor a file of it.", "see which there are: iff key list; to make one: iff key new NAME"},
		{"key-exists", "There is a key of this name already.", "see which names are taken: iff key list"},
		{"key-exposed", "Others can read the file of a key that has no passphrase.", "chmod 600 it; if others could have read it: iff trust revoke ID"},
		{"key-malformed", "The file or line is not a key, or is damaged.", "name a key file of iff or OpenSSH, or restore it from a copy"},
		{"key-not-ed25519", "The key is of another type than Ed25519.", "make one: iff key new NAME"},
		{"key-size", "A public key is missing, or is not 32 bytes long.", "copy the whole line of the .pub file"},
		{"key-encoding", "A public key is not a point of the curve, or not in its one spelling.", "copy the whole line of the .pub file"},
		{"key-small-order", "Anyone can sign for this public key.", "do not use it; ask whoever sent it for a key that ssh-keygen made"},
		{"key-mixed-order", "The public key has a part of small order, so others may verify its signatures differently.", "do not use it; ask whoever sent it for a key that ssh-keygen made"},
		{"usage", "The command line is not understood.", "add --help to see what the verb takes"},
		{"interrupted", "The program was told to stop.", "run it again: what is done stays done"},
		{"passphrase-needed", "A key is protected, and the passphrase could not be read.", "give --passphrase-file FILE or --passphrase-fd N"},
		{"passphrase-empty", "The passphrase is empty.", "give one, such as the first line of --passphrase-file FILE"},
		{"passphrase-wrong", "The passphrase does not open the key.", "give the one that was chosen when the key was made"},
	}},
	{"The home", "Everything in it is checked each time it is opened.", []reasonRow{
		{"home-missing", "There is no home in this directory.", "make one: iff init; or name the one you have with --home DIR"},
		{"home-exists", "The directory for a new home is not empty.", "see whether it is a home: iff doctor; or choose another: iff init --home DIR"},
		{"home-exposed", "Others can write to the home.", "chmod 700 it, then check it: iff doctor"},
		{"home-busy", "Another iff is writing to the home.", "run the command again when that one has ended"},
		{"home-unreadable", "A file of the home cannot be read or written.", "check who owns it and its permissions, then: iff doctor"},
		{"config-invalid", "iff.toml has a setting that is missing, unknown or not allowed.", "correct iff.toml, then: iff doctor"},
		{"operator-invalid", "The operator's id is not of the allowed form, or one that iff uses itself.", "choose another: iff init --operator ID"},
		{"records-broken", "The records are gone, or a line of them cannot be read.", "restore the home's records.jsonl from its newest copy"},
	}},
	{"Labels and schemes", "The names come from the label scheme of the trust root.", []reasonRow{
		{"label-absent", "A label is needed, and there is none.", "write one with the names of the scheme: iff trust show"},
		{"label-syntax", "The text is not of the form RANK//COMPARTMENT,...//REL PRINCIPAL,....", "write it so, with the names of the scheme: iff trust show"},
		{"label-not-canonical", "The text names a label, but not in its one spelling.", "write the spelling that is given"},
		{"rank-unknown", "The rank is not in the scheme.", "use a rank of the scheme: iff trust show"},
		{"compartment-unknown", "A compartment is not in the scheme.", "use compartments of the scheme: iff trust show"},
		{"releasable-unknown", "A principal is not in the scheme.", "use principals of the scheme: iff trust show"},
		{"scheme-invalid", "A scheme has too few or too many names, or one that is not allowed.", "correct the scheme file, then: iff init --scheme FILE"},
		{"scheme-duplicate", "Two names of a scheme are equal or differ only in case.", "correct the scheme file, then: iff init --scheme FILE"},
		{"scheme-reserved", "A scheme uses a reserved word, or the name of a built-in scheme.", "choose another name, then: iff init --scheme FILE"},
	}},
	{"Grants and calls", "What a skill may do, and what is asked for.", []reasonRow{
		{"capability-unknown", "The capability is not in the vocabulary.", "use one of the vocabulary; docs/formats.md has the table"},
		{"pattern-invalid", "The grant's pattern does not parse.", "correct the grant at that byte; docs/formats.md has the forms"},
		{"pattern-too-long", "The grant is longer than is read.", "write a wider pattern, or the capability alone, so that each call asks"},
		{"grant-not-canonical", "The grant is not in its one spelling.", "write the spelling that is given"},
		{"grants-unsorted", "The grants are not sorted by their bytes.", "sort them; LC_ALL=C sort does"},
		{"grant-duplicate", "A grant stands in the list twice.", "write it once"},
		{"grants-too-many", "There are more than 256 grants.", "write wider patterns, or capabilities alone, so that each call asks"},
		{"target-invalid", "The target of a call is not of its capability's form.", "correct the target at that byte; docs/formats.md has the forms"},
		{"target-too-long", "The target of a call is longer than is read.", "name it in a shorter way, such as relative to its corpus"},
		{"target-not-canonical", "The target of a call is not in its one spelling.", "write the spelling that is given"},
		{"call-invalid", "The call has no target, or its arguments are not a JSON object.", "correct the call; docs/formats.md has its form"},
		{"call-not-canonical", "The bytes are not the canonical form of the call.", "write the call as RFC 8785 says"},
		{"reasoning-too-long", "The reasoning that goes with a call is longer than is kept.", "shorten it"},
	}},
	{"JSON", "Manifests, signatures, trust documents, records and scheme files are read strictly.", []reasonRow{
		{"json-syntax", "The text is not JSON, or ends too early.", "correct the text at that byte"},
		{"duplicate-key", "An object has the same key twice.", "remove one of the two"},
		{"case-key", "A key differs only in case from another key, or from the name of a field.", "write the key as the format has it, once"},
		{"unknown-field", "There is a field that the format does not have.", "remove it, or use the version of iff that wrote it"},
		{"missing-field", "A mandatory field is not there, or an optional one is empty.", "add the one, leave out the other"},
		{"wrong-type", "A value is of another type, out of range, or null.", "write the value in the type that the format has"},
		{"invalid-value", "A text is not one that its field takes.", "correct the value"},
		{"bad-utf8", "There are bytes that are not UTF-8.", "save the file as UTF-8"},
		{"lone-surrogate", "An escape is half of a surrogate pair.", "write the character itself"},
		{"byte-order-mark", "The file begins with a byte order mark.", "save the file as UTF-8 without one"},
		{"trailing-bytes", "Something follows the JSON value.", "remove what follows"},
		{"number-inexact", "A number cannot be held exactly.", "write fewer digits"},
		{"too-deep", "Arrays and objects are nested deeper than is read.", "nest it less deeply"},
		{"too-large", "The JSON is larger than is read.", "make it smaller"},
	}},
}

// kinds is every kind of finding and of change. Findings refuse nothing.
var kinds = []reasonGroup{
	{"Deviations", "Where a skill is not as the Agent Skills specification says; iff reads it all the same.", []reasonRow{
		{"name-missing", "SKILL.md has no name; the directory's is taken.", "write the name"},
		{"name-characters", "The name is not lower-case letters, digits and single inner hyphens.", "write the name so"},
		{"name-too-long", "The name has more than 64 characters.", "shorten it"},
		{"name-directory", "The name is not that of the directory.", "rename one of the two"},
		{"name-normalised", "A manifest would call the skill otherwise than SKILL.md does.", "write the name that is shown"},
		{"description-too-long", "The description has more than 1,024 characters.", "shorten it"},
		{"compatibility-too-long", "The compatibility has more than 500 characters.", "shorten it"},
		{"field-type", "A field is not text; its text is taken where it has one.", "put quotes around the value"},
		{"metadata-not-text", "Metadata is nested, or holds values that are not text.", "write names with text"},
		{"allowed-tools-commas", "Commas separate the entries of allowed-tools.", "separate them by blanks"},
		{"allowed-tools-list", "The field allowed-tools is a list.", "write the entries in one text, separated by blanks"},
		{"allowed-tools-unbalanced", "A parenthesis in allowed-tools has no partner.", "close it, or remove it"},
		{"allowed-tools-too-many", "The field allowed-tools has more than 256 entries; the others are left out.", "write fewer"},
		{"merge-key", "A YAML merge key is not followed.", "write the fields out"},
		{"unquoted-value", "A value with a colon is not in quotes; it was read as if it were.", "put quotes around the value"},
		{"tab-indent", "A tab indents YAML; it was read as two spaces.", "indent with spaces"},
		{"byte-order-mark", "SKILL.md begins with a byte order mark, behind which other readers miss the frontmatter.", "save it without"},
		{"delimiter", "Blanks follow a line ---, or blank lines come before the first.", "remove the blanks"},
		{"skillmd-file-name", "The file is not named SKILL.md, in capitals.", "rename it"},
		{"git-directory", "A .git directory is part of the content, so every commit changes what was signed.", "export the skill without it, such as: git archive"},
		{"archive", "A file is an archive, whose inside was not read.", "look inside, or ask for the files"},
		{"script-not-text", "A shell script is not text, so it was not read.", "treat it as a program that can do anything"},
	}},
	{"Hazards", "What stands in the text for a model and not for a reader; a note where it is in the open, such as in code.", []reasonRow{
		{"hidden-tag", "Tag characters show nothing; the finding says what they spell.", "read what they spell; there is no good reason for them"},
		{"bidi-control", "A control makes text show in another order than it is read in.", "read the text around it as the finding shows it"},
		{"zero-width", "Characters without width stand where no script needs them.", "remove them"},
		{"variation-selector", "Variation selectors select nothing; they can carry bytes.", "remove them"},
		{"private-use", "Characters have no common meaning.", "ask what they are for, or remove them"},
		{"control-character", "A control other than a line end or tab stands in the text.", "remove it"},
		{"invalid-byte", "Bytes are not UTF-8, so readers show them differently.", "save the file as UTF-8"},
		{"mixed-script", "A word mixes Latin letters with look-alikes of another alphabet.", "read it letter by letter; write it in one alphabet"},
		{"look-alike", "A word in Latin text is of look-alike letters alone.", "read it letter by letter; write it in Latin letters"},
		{"off-screen", "Text stands behind so many blanks that a reader does not see it.", "scroll to it and read it"},
		{"html-comment", "An HTML comment is not shown on a page.", "read it as an instruction"},
		{"hidden-html", "An HTML element is made invisible.", "read it as an instruction"},
		{"hidden-markdown", "Markdown holds words that are not shown on a page: link definitions, titles, words behind a code fence.", "read them as instructions"},
		{"more-findings", "There are more findings than are listed; they are counted by kind.", "mend those that are listed, then inspect again"},
	}},
	{"Notes", "Worth a look.", []reasonRow{
		{"name-not-ascii", "The name has letters of another alphabet, which some readers refuse.", "use ASCII if the skill is for everyone"},
		{"unknown-field", "The specification has no such field.", "put it under metadata"},
		{"line-endings", "Lines end with a carriage return.", "save the file with line feeds alone"},
		{"body-long", "The text is longer than is recommended.", "move details to files that SKILL.md names"},
		{"body-empty", "No instructions follow the frontmatter.", "ask what the skill is for"},
		{"unassigned", "A character is assigned to nothing, or is newer than iff's tables.", "look at what your screen shows there"},
		{"long-line", "A line has more than 2,000 characters.", "scroll to its end"},
		{"blob", "More than 200 characters look like base64.", "decode it and see"},
	}},
	{"Changes", "How a file differs from what was signed.", []reasonRow{
		{"added", "The file was not there when the skill was signed.", "read it, or remove it"},
		{"removed", "The file was there when the skill was signed.", "restore it, if the skill needs it"},
		{"modified", "The bytes differ.", "compare them with the source of the skill"},
		{"executable-changed", "The bytes are the same, the permission to execute is not.", "chmod it back, unless it is meant"},
		{"renamed", "The same bytes were signed under another name.", "see whether what refers to it was changed too"},
	}},
}

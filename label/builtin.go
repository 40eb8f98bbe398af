package label

// everyone is U where a scheme does not tell principals apart: a label is
// then releasable to everyone or to nobody.
const everyone = "EVERYONE"

// Builtin gives a built-in scheme by its exact name, see [BuiltinNames]; false
// if there is none of that name.
func Builtin(name string) (*Scheme, bool) {
	for _, d := range builtins() {
		if d.Name == name {
			return freeze(d), true
		}
	}
	return nil, false
}

// BuiltinNames are the names of the built-in schemes: generic, default,
// us-government, healthcare, financial.
func BuiltinNames() []string {
	var names []string
	for _, d := range builtins() {
		names = append(names, d.Name)
	}
	return names
}

// builtins are valid, which a test proves. Their content is a promise: a
// change makes every label signed under them one of another scheme.
func builtins() []SchemeData {
	return []SchemeData{
		{
			Name:       "generic",
			Ranks:      []string{"PUBLIC", "INTERNAL", "CONFIDENTIAL"},
			Releasable: []string{everyone},
		},
		{
			Name:       "default",
			Ranks:      []string{"PUBLIC", "INTERNAL", "CONFIDENTIAL", "RESTRICTED", "RESTRICTED-PLUS"},
			Releasable: []string{everyone},
		},
		usGovernment(),
		healthcare(),
		financial(),
	}
}

// usGovernment follows Executive Order 13526 and the CUI registry. What
// restricts is a compartment: control systems (HCS, SI, SI-G, TK), atomic
// energy (RD, FRD), dissemination (NOFORN, ORCON, PROPIN, FISA) and categories
// of CUI (CTI, EXPT, PRVCY). Principals are states; FVEY is all five of them.
func usGovernment() SchemeData {
	return SchemeData{
		Name:  "us-government",
		Ranks: []string{"UNCLASSIFIED", "CUI", "CONFIDENTIAL", "SECRET", "TOP SECRET"},
		Compartments: []string{
			"CTI", "EXPT", "FISA", "FRD", "HCS", "NOFORN", "ORCON", "PROPIN", "PRVCY", "RD", "SI", "SI-G", "TK",
		},
		Releasable: []string{"AUS", "CAN", "GBR", "NZL", "USA"},
	}
}

// healthcare has protected health information and, above it, the kinds that
// law protects further: psychotherapy notes (45 CFR 164.508), substance use
// records (42 CFR Part 2), genetic information, HIV status, reproductive care.
// Principals are the purposes of use: treatment, payment and health care
// operations (45 CFR 164.506), research, and the patient's own access.
func healthcare() SchemeData {
	return SchemeData{
		Name:         "healthcare",
		Ranks:        []string{"PUBLIC", "INTERNAL", "PHI", "SENSITIVE-PHI"},
		Compartments: []string{"GENETIC", "HIV", "PSYCHOTHERAPY", "REPRODUCTIVE", "RESEARCH", "SUBSTANCE-USE"},
		Releasable:   []string{"OPERATIONS", "PATIENT", "PAYMENT", "RESEARCHERS", "TREATMENT"},
	}
}

// financial has material non-public information (MNPI) and the information
// barrier around it: PRIVATE-SIDE and PUBLIC-SIDE are the two sides of the
// wall, so a clearance holds at most one of them; the desks; card data (PCI)
// and suspicious activity reports (SAR).
func financial() SchemeData {
	return SchemeData{
		Name:  "financial",
		Ranks: []string{"PUBLIC", "INTERNAL", "CONFIDENTIAL", "MNPI", "RESTRICTED-MNPI"},
		Compartments: []string{
			"ADVISORY", "CAPITAL-MARKETS", "LENDING", "PCI", "PRIVATE-SIDE", "PUBLIC-SIDE", "RESEARCH", "SAR", "TRADING",
		},
		Releasable: []string{"AUDITORS", "CLIENTS", "COMPLIANCE", "COUNTERPARTIES", "REGULATORS", "STAFF"},
	}
}

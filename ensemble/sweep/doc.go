// Package sweep makes many runs of package ensemble, keeps what came of each, and
// says how often the judgement was as it has to be (paper, section
// "Adversarial-ensemble evaluation").
//
// # The plan
//
// A [Plan] is a matrix: cells of N files, K agents and R rounds, scenarios, and S
// runs of each scenario in each cell. The seed of a run follows from the seed of
// the sweep, the sizes of its cell, the name of its scenario and its index, that of
// its corpus from the same but the scenario, and both
// from nothing else: a run can be made alone, and is the same in a smaller plan.
// Runs are made in the order of their index, so that a sweep that was interrupted
// knows something of every cell.
//
// What comes of a run is an [Outcome]: no times, no paths, nothing of the machine.
// The same plan gives the same outcomes in the same order, however many runs are
// made at once. An outcome has all that the criteria judge by, so that [Judge]
// looks at the same runs by each of them.
//
// # The journal
//
// A [Journal] keeps outcomes in a directory, in the file [JournalName]. Its lines are
// JSON: the first has the plan, each of the others a run that is done, in the
// order in which they ended. A line is written at once and is on the disk about a
// second later. Another plan, or another version of the program, does not continue
// it: the error names what differs. Of a line that a crash or a full disk did not let
// end the rest is cut off; lines that do not hold are passed over, and counted. In
// both cases the run is made again, and comes out the same. A run in which something
// happened that no fault explains is not kept at all.
//
// A line says what came of a run; nobody checks that it did. One that cannot be true of
// its run does not hold, but whoever can write to the directory can write a line that
// could be. Who doubts a result makes it again, or any run of it alone.
//
// # Where runs are made
//
// The runs of one index in one cell begin with the same corpus. It is made once, and
// behind each run what that changed is put back ([ensemble.Site]). Each worker has a
// few corpora at a time, where there is room for far more, and plays on them in
// turn: when a run begins most of its files are some ten milliseconds old, and the
// observer tells them by their times, as it does those of people, and reads again
// only what it cannot tell so. The first reading and every verdict read every byte.
//
// Corpora lie in a directory that the sweep makes, iff-sweep-*, and removes when it
// ends. If it is killed, the next sweep in the same place removes it: only a
// directory of the same user, with the marker that a sweep writes, whose lock
// nobody holds.
//
// # Intervals
//
// [Rate.Interval] is Wilson's score interval, of 95 percent, without correction for
// continuity. In three decimals nothing is rounded to 1.000 that is less, and
// nothing to 0.000 that is more.
package sweep

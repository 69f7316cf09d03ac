package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c3po-dev/c3po/c3po"
)

func TestALineIsWholeOnlyIfEveryProcessOfItWasSeen(t *testing.T) {
	t.Parallel()
	type found struct {
		looked
		sight
	}
	for name, test := range map[string]struct {
		table        map[int]found
		line         []c3po.ProcessRun
		whole, again bool
	}{
		"up to the first process":               {map[int]found{9: {looked{7, 90, false}, plain}, 7: {looked{1, 70, false}, plain}}, []c3po.ProcessRun{{PID: 9, Start: 90}, {PID: 7, Start: 70}}, true, false},
		"up to the edge of a container":         {map[int]found{9: {looked{0, 90, false}, plain}}, []c3po.ProcessRun{{PID: 9, Start: 90}}, true, false},
		"a process that is gone":                {nil, nil, false, false},
		"one that has ended":                    {map[int]found{9: {looked{1, 90, true}, plain}}, nil, false, false},
		"a parent that is gone":                 {map[int]found{9: {looked{7, 90, false}, plain}}, []c3po.ProcessRun{{PID: 9, Start: 90}}, false, true},
		"a parent whose number is another's":    {map[int]found{9: {looked{7, 90, false}, plain}, 7: {looked{1, 91, false}, plain}}, []c3po.ProcessRun{{PID: 9, Start: 90}}, false, true},
		"a parent of another user, not shown":   {map[int]found{9: {looked{7, 90, false}, plain}, 7: {looked{}, hidden}}, []c3po.ProcessRun{{PID: 9, Start: 90}}, true, false},
		"a parent whose first thread has ended": {map[int]found{9: {looked{7, 90, false}, plain}, 7: {looked{1, 70, true}, plain}}, []c3po.ProcessRun{{PID: 9, Start: 90}, {PID: 7, Start: 70}}, true, false},
	} {
		line, whole, again := walk(9, func(pid int) (looked, sight) { return test.table[pid].looked, test.table[pid].sight })
		if diff := cmp.Diff(test.line, line); diff != "" || whole != test.whole || again != test.again {
			t.Errorf("%s: whole %v, again %v, line (-want +got):\n%s", name, whole, again, diff)
		}
	}
	endless := func(pid int) (looked, sight) { return looked{parent: pid + 1, start: 5}, plain }
	if line, whole, again := walk(9, endless); whole || again || len(line) != maxLineage {
		t.Errorf("of a line without end %d are seen, whole %v, again %v", len(line), whole, again)
	}
}

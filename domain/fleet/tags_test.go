package fleet_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/domain/fleet"
)

// tagged is a registered instance after valid changes of its tags.
func tagged(t *testing.T, changes ...fleet.ChangeTags) *fleet.Instance {
	t.Helper()
	i := new(fleet.Instance)
	i.Apply(registered())
	for _, c := range changes {
		events, _, err := i.Tag(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			i.Apply(e)
		}
	}
	return i
}

func TestTags(t *testing.T) {
	t.Parallel()
	cmdb, agent := fleet.ByFeed("cmdb"), fleet.ByFeed("agent-7")
	set := func(by fleet.TagSource, pairs ...string) fleet.ChangeTags {
		c := fleet.ChangeTags{By: by, Set: map[string]string{}, All: by != fleet.ByPerson}
		for _, pair := range pairs {
			key, value, _ := strings.Cut(pair, "=")
			c.Set[key] = value
		}
		return c
	}
	all := func(c fleet.ChangeTags) fleet.ChangeTags { c.All = true; return c }
	protecting := func(c fleet.ChangeTags, keys ...string) fleet.ChangeTags { c.Protected = keys; return c }
	for name, c := range map[string]struct {
		given     []fleet.ChangeTags
		when      fleet.ChangeTags
		then      string // key=value by its author
		kept      []string
		eventless bool
	}{
		"a person sets a tag":                                  {nil, set("", "env=prod"), "env=prod()", nil, false},
		"and the others stay":                                  {[]fleet.ChangeTags{set("", "team=a")}, set("", "env=prod"), "env=prod() team=a()", nil, false},
		"all that a person sets":                               {[]fleet.ChangeTags{set("", "team=a")}, all(set("", "env=prod")), "env=prod()", nil, false},
		"a feed does not change what a person set":             {[]fleet.ChangeTags{set("", "env=prod")}, set(cmdb, "env=test", "zone=b"), "env=prod() zone=b(feed:cmdb)", []string{"env"}, false},
		"nor remove it":                                        {[]fleet.ChangeTags{set("", "env=prod")}, set(cmdb), "env=prod()", nil, true},
		"a person changes what a feed set, and then it is his": {[]fleet.ChangeTags{set(cmdb, "env=test")}, set("", "env=prod"), "env=prod()", nil, false},
		"who sends all back takes over none":                   {[]fleet.ChangeTags{set(cmdb, "env=test")}, all(set("", "env=test")), "env=test(feed:cmdb)", nil, true},
		"a person removes a feed's":                            {[]fleet.ChangeTags{set(cmdb, "env=test")}, fleet.ChangeTags{Remove: []string{"env", "none"}}, "", nil, false},
		"a feed removes its own by leaving it out":             {[]fleet.ChangeTags{set(cmdb, "env=test", "zone=a")}, set(cmdb, "zone=a"), "zone=a(feed:cmdb)", nil, false},
		"and no other feed's":                                  {[]fleet.ChangeTags{set(agent, "env=test")}, set(cmdb, "zone=a"), "env=test(feed:agent-7) zone=a(feed:cmdb)", nil, false},
		"of two feeds the later value counts":                  {[]fleet.ChangeTags{set(agent, "env=test")}, set(cmdb, "env=prod"), "env=prod(feed:cmdb)", nil, false},
		"two feeds of one mind take nothing from each other":   {[]fleet.ChangeTags{set(agent, "env=test")}, set(cmdb, "env=test"), "env=test(feed:agent-7)", nil, true},
		"what is protected stays":                              {[]fleet.ChangeTags{set("", "team=a")}, protecting(set("", "team=b", "env=prod"), "team"), "env=prod() team=a()", []string{"team"}, false},
		"also from being removed":                              {[]fleet.ChangeTags{set("", "team=a")}, protecting(all(set("")), "team"), "team=a()", []string{"team"}, true},
		"as it is it may be sent":                              {[]fleet.ChangeTags{set("", "team=a")}, protecting(all(set("", "team=a")), "team"), "team=a()", nil, true},
		"a feed sets none that is protected":                   {nil, protecting(set(cmdb, "team=b"), "team"), "", []string{"team"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := tagged(t, c.given...)
			events, kept, err := i.Tag(c.when)
			if err != nil || (len(events) == 0) != c.eventless || !slices.Equal(kept, c.kept) {
				t.Errorf("%v, kept %v, %v", events, kept, err)
			}
			if got := written(tagged(t, append(c.given, c.when)...).Tags()); got != c.then {
				t.Errorf("there are %s, want %s", got, c.then)
			}
		})
	}
}

func written(tags fleet.Tags) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		words = append(words, fmt.Sprintf("%s=%s(%s)", key, tags[key].Value, tags[key].By))
	}
	return strings.Join(words, " ")
}

func TestAnInstanceHasAtMost32Tags(t *testing.T) {
	t.Parallel()
	i, many := tagged(t), fleet.ChangeTags{Set: map[string]string{}}
	for n := range fleet.MaxTags {
		many.Set[fmt.Sprintf("k%d", n)] = "v"
	}
	events, _, err := i.Tag(many)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		i.Apply(e)
	}
	var tooMany *fleet.TooManyTagsError
	if _, _, err := i.Tag(fleet.ChangeTags{Set: map[string]string{"one": "more"}}); !errors.As(err, &tooMany) || tooMany.Would != 33 {
		t.Errorf("the 33rd: %v", err)
	}
	if _, _, err := i.Tag(fleet.ChangeTags{Set: map[string]string{"one": "more"}, Remove: []string{"k7"}}); err != nil {
		t.Errorf("one for another: %v", err)
	}
	i.Apply(fleet.InstanceRemoved{})
	var removed *fleet.RemovedError
	if _, _, err := i.Tag(many); !errors.As(err, &removed) {
		t.Errorf("of one that was removed: %v", err)
	}
}

// TestTagsFollowTheirEvents: folding the events gives the result of the decisions, and a change
// that is decided twice is one event.
func TestTagsFollowTheirEvents(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(37, 1))
	i, folded := tagged(t), fleet.Tags(nil)
	for range 3000 {
		c := fleet.ChangeTags{By: []fleet.TagSource{"", fleet.ByFeed(""), fleet.ByFeed("a")}[random.IntN(3)], Set: map[string]string{}, All: random.IntN(2) == 0}
		for range random.IntN(4) {
			c.Set[string(rune('a'+random.IntN(6)))] = string(rune('x' + random.IntN(3)))
		}
		if !c.All {
			c.Remove = []string{string(rune('a' + random.IntN(6)))}
		}
		before := i.Tags()
		events, _, err := i.Tag(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			i.Apply(e)
			folded = folded.Apply(e.(fleet.InstanceTagged))
		}
		if again, _, _ := i.Tag(c); len(again) > 0 {
			t.Fatalf("%+v after %v is %v again", c, before, again)
		}
		if diff := cmp.Diff(i.Tags(), folded, cmp.Transformer("empty", func(t fleet.Tags) map[string]fleet.Tag { return maps.Clone(t) })); diff != "" && len(folded)+len(i.Tags()) > 0 {
			t.Fatal(diff)
		}
		for key, tag := range before {
			if is := i.Tags()[key]; c.By != fleet.ByPerson && tag.By == fleet.ByPerson && is != tag {
				t.Fatalf("a feed made %v of %s=%v, which a person set", is, key, tag)
			}
		}
	}
}

func TestWordsOfTags(t *testing.T) {
	t.Parallel()
	for word, ok := range map[string]bool{
		"env:prod": true, "a:b:c": true, "team:Größe 7": true, "k8s.io:x": true, "a-b_c.d:1": true, "env:" + strings.Repeat("é", 100): true,
		"": false, "env": false, "env:": false, ":prod": false, "Env:prod": false, "1env:prod": false, "env :prod": false, "env: prod": false,
		"env:pr\nod": false, "env:\u202eprod": false, "env:\x00": false, "env:\xff": false, "env:" + strings.Repeat("é", 101): false,
		strings.Repeat("k", 63) + ":v": true, strings.Repeat("k", 64) + ":v": false,
	} {
		if _, _, is := fleet.ParseTag(word); is != ok {
			t.Errorf("%q: %v", word, is)
		}
	}
	if key, value, _ := fleet.ParseTag("a:b:c"); key != "a" || value != "b:c" {
		t.Errorf("%q and %q", key, value)
	}
}

func TestTagFilter(t *testing.T) {
	t.Parallel()
	f := fleet.TagFilter{}
	for _, word := range []string{"env:prod", "env:test", "env:prod", "team:a"} {
		key, value, _ := fleet.ParseTag(word)
		f.Add(key, value)
	}
	if diff := cmp.Diff(fleet.TagFilter{"env": {"prod", "test"}, "team": {"a"}}, f); diff != "" {
		t.Errorf("each alternative is there once: %s", diff)
	}
}

package v1alpha1

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"
)

func TestNameForKeyI1(t *testing.T) {
	as := strings.Repeat("a", 52)
	for _, test := range []struct{ reason, key, name string }{
		{"a DNS label is its own name", "grant-coupon-42", "grant-coupon-42"},
		{"colons are not of a label", "task_submit:42:stu-7:3:web-1", "task-submit-42-stu-7-3-we-x3xeacmppfnisvkj4bysicyvpq"},
		{"case counts, although the slug folds it", "Task_submit:42:stu-7:3:web-1", "task-submit-42-stu-7-3-we-dgcxq7wl2vbxfnfc2nb3plwtrs"},
		{"other letters leave no trace in the slug", "提交:任务42", "42-na7fkoyrlqrejwd4tlhuhhqucs"},
		{"one character too long", as + "a", as[:25] + "-vprunjzft7eqwtbhdbkbsyuolz"},
		{"upper case is no label", "UPPER", "upper-ts5byzmtuywplzclfumkomy6lq"},
		{"a name that looks derived is not its own", "task-submit-42-stu-7-3-we-" + as[:26], "task-submit-42-stu-7-3-we-2osf5qlywqxfiy5drhy64wpb4g"},
		{"as long as a name may be, without looking derived", as[:25] + "1" + as[:26], as[:25] + "1" + as[:26]},
		{"one digit", "1", "1"},
		{"25 characters do not look derived", as[:25], as[:25]},
		{"26 characters with a digit that base32 has not", as[:25] + "1", as[:25] + "1"},
	} {
		name, err := NameForKey(test.key)
		if err != nil || name != test.name {
			t.Errorf("%s: NameForKey(%q) = %q, %v; want %q", test.reason, test.key, name, err, test.name)
		}
	}
}

func TestNameForKeySlug(t *testing.T) {
	for _, test := range []struct{ reason, key, slug string }{
		{"nothing readable", "任务", "k"},
		{"a label of 26 base32 characters alone looks derived", strings.Repeat("a", 26), strings.Repeat("a", 25)},
		{"dashes at the ends are trimmed", "--a--", "a"},
		{"a cut that ends on a dash is trimmed again", strings.Repeat("a", 24) + ":b", strings.Repeat("a", 24)},
		{"a run of other characters is one dash", "a :%: b", "a-b"},
		{"only ASCII letters are lowered", "KÄ", "k"},
		{"the Kelvin sign is not a k", "\u212Ax", "x"},
		{"a trailing dash is no label", "a-", "a"},
		{"a dot is no part of a label", "a.b", "a-b"},
	} {
		name, err := NameForKey(test.key)
		if err != nil || name[:len(name)-hashLength-1] != test.slug {
			t.Errorf("%s: NameForKey(%q) = %q, %v; want the slug %q", test.reason, test.key, name, err, test.slug)
		}
	}
}

func TestValidateKeyI10(t *testing.T) {
	for _, test := range []struct{ reason, key, says string }{
		{"empty", "", "the key is empty; an idempotency key is the client's name for the action, such as grant-coupon-42"},
		{"513 bytes", strings.Repeat("a", 513), "the key has 513 bytes, and at most 512 are allowed"},
		{"bytes are counted, not letters", strings.Repeat("务", 171), "the key has 513 bytes, and at most 512 are allowed"},
		{"not UTF-8", "a\xff", "the key is not valid UTF-8"},
		{"a newline inside", "a\nb", "the key has the control character U+000A at byte 1"},
		{"a C1 control character", "ab\u0085c", "the key has the control character U+0085 at byte 2"},
		{"DEL", "\u007f", "the key has the control character U+007F at byte 0"},
		{"a space before", " a", "the key begins or ends with white space"},
		{"a space after", "a ", "the key begins or ends with white space"},
		{"Unicode white space after", "a\u3000", "the key begins or ends with white space"},
		{"white space alone", "\u00a0", "the key begins or ends with white space"},
	} {
		_, err := NameForKey(test.key)
		var keyError *KeyError
		if !errors.As(err, &keyError) || err.Error() != test.says {
			t.Errorf("%s: %v; want a KeyError %q", test.reason, err, test.says)
		}
		if ValidateKey(test.key) == nil {
			t.Errorf("%s: ValidateKey allows it", test.reason)
		}
	}
	for _, key := range []string{strings.Repeat("a", 512), strings.Repeat("务", 170), "a b", "a\u3000b", "a\u200b"} {
		if err := ValidateKey(key); err != nil {
			t.Errorf("ValidateKey(%q) = %v", key, err)
		}
	}
}

func FuzzNameForKey(f *testing.F) {
	for _, key := range []string{
		"grant-coupon-42", "task_submit:42:stu-7:3:web-1", "提交:任务42", "UPPER", "-", "a-", "", " ", "\xff", "a\u0000",
		strings.Repeat("a", 26), strings.Repeat("a", 52), strings.Repeat("a", 53), "x-" + strings.Repeat("7", 26), "\u212A",
	} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) { checkName(t, key) })
}

// checkName holds what is true of the name of every key.
func checkName(t *testing.T, key string) {
	t.Helper()
	name, err := NameForKey(key)
	if (err == nil) != (ValidateKey(key) == nil) {
		t.Fatalf("NameForKey(%q): %v, ValidateKey: %v", key, err, ValidateKey(key))
	}
	if err != nil {
		if name != "" || key != "" && utf8.ValidString(key) && len(key) <= MaxKeyBytes && !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
			t.Fatalf("NameForKey(%q) = %q, %v", key, name, err)
		}
		return
	}
	if faults := validation.IsDNS1123Label(name); len(faults) > 0 || len(name) > MaxNameLength {
		t.Fatalf("NameForKey(%q) = %q: %d characters, %v", key, name, len(name), faults)
	}
	if again, _ := NameForKey(key); again != name {
		t.Fatalf("NameForKey(%q) is once %q and once %q", key, name, again)
	}
	derived := looksDerived.MatchString(name)
	if (name == key) == derived {
		t.Fatalf("NameForKey(%q) = %q: its own name must not look derived, and any other must", key, name)
	}
	if label := len(validation.IsDNS1123Label(key)) == 0 && len(key) <= MaxNameLength && !looksDerived.MatchString(key); label && name != key {
		t.Fatalf("NameForKey(%q) = %q, although it can be its own name", key, name)
	}
	// What a client names after a derived name is another key: no key's name is another key's own name.
	if other, err := NameForKey(name); err == nil && name != key && other == name {
		t.Fatalf("the keys %q and %q have one name", key, name)
	}
}

func TestNameForKeyOverRandomKeys(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("aaabz-_:.%AZ 01279\u00e4\u4efb\u212A\u3000\n")
	keys := map[string]string{}
	for range 50_000 {
		letters := make([]rune, random.IntN(60))
		for i := range letters {
			letters[i] = alphabet[random.IntN(len(alphabet))]
		}
		key := string(letters)
		checkName(t, key)
		name, err := NameForKey(key)
		if err != nil {
			continue
		}
		if other, taken := keys[name]; taken && other != key {
			t.Fatalf("the keys %q and %q have one name", key, other)
		}
		keys[name] = key
	}
}

func TestRecordAndClaimNames(t *testing.T) {
	for _, test := range []struct{ reason, name, want string }{
		{"a record", RecordName("task_submit:42:stu-7:3:web-1"), "ik-6t6k47sjrtsfblkfun3v7tf54p"},
		{"a claim", ClaimName("award-points", "42/stu-7/3"), "bk-sziddotlf3cehhexycxllyufmw"},
		{"parts do not run together", ClaimName("a", "b-c"), "bk-ixyqpuh7aiw2t4eeg4b6wlmn76"},
		{"so this is another claim", ClaimName("a-b", "c"), "bk-spiuexkntbqneh6ovotzld6dpl"},
	} {
		if test.name != test.want {
			t.Errorf("%s: %q, want %q", test.reason, test.name, test.want)
		}
	}
}

func TestKey(t *testing.T) {
	for _, test := range []struct {
		reason string
		parts  []string
		key    string
	}{
		{"parts are joined", []string{"task", "42"}, "task:42"},
		{"a colon is escaped", []string{"a:b", "c"}, "a%3Ab:c"},
		{"a percent sign is escaped", []string{"50%"}, "50%25"},
		{"what looks escaped is escaped again", []string{"a%3Ab"}, "a%253Ab"},
		{"empty parts count", []string{"", ""}, ":"},
		{"one empty part", []string{""}, ""},
	} {
		if key := Key(test.parts...); key != test.key {
			t.Errorf("%s: Key(%q) = %q, want %q", test.reason, test.parts, key, test.key)
		}
	}
}

func FuzzKeyInjective(f *testing.F) {
	f.Add("a:b", "c", "a", "b:c")
	f.Add("a%3Ab", "", "a:b", "")
	f.Add("a%", "3A", "a%25", "3A")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		if (Key(a, b) == Key(c, d)) != (a == c && b == d) {
			t.Fatalf("Key(%q, %q) and Key(%q, %q)", a, b, c, d)
		}
		if Key(a, b) == Key(c) || Key(a, b) == Key(c, d, a) {
			t.Fatalf("%q, %q, %q, %q: another number of parts makes the same key", a, b, c, d)
		}
		if Key(a) == "" && a != "" {
			t.Fatalf("Key(%q) is empty", a)
		}
	})
}

package inflight_test

import "testing"

func TestAPlaceThatIsHeldOutlastsItsFlight(t *testing.T) {
	w := newWorld(t, 1) // what is held is no flight, so it does not count among all
	one := template("t", 1, 0)
	flight := w.take("a", one)
	w.refuse("b", one)
	w.table.Keep(named("a"), named("t"))
	w.table.Keep(named("a"), named("t")) // twice is once
	flight.Remove()
	w.wantWoken()
	w.refuse("b", one)

	check := w.take("a", one) // its own place is enough for a question
	check.Remove()
	w.wantWoken()
	w.refuse("b", one)
	w.take("c", template("other", 1, 0)).Remove()

	w.table.Free(named("a"))
	w.wantWoken("b")
	w.take("b", one)
	w.table.Free(named("a")) // a second time gives nothing back
	w.refuse("c", one)
}

func TestAPlaceThatIsGivenBackDuringAFlightStaysTheFlights(t *testing.T) {
	w := newWorld(t, 10)
	one := template("t", 1, 0)
	w.table.Keep(named("a"), named("t"))
	flight := w.take("a", one)
	w.refuse("b", one)
	w.table.Free(named("a"))
	w.wantWoken()
	w.refuse("b", one)
	flight.Remove()
	w.wantWoken("b")
	w.take("b", one)
}

func TestPlacesThatAreHeldFromTheStartMayBeMoreThanAllowed(t *testing.T) {
	w := newWorld(t, 10)
	two := template("t", 2, 0)
	for _, action := range []string{"a", "b", "c"} {
		w.table.Keep(named(action), named("t"))
	}
	w.refuse("d", two)
	w.table.Free(named("a"))
	w.wantWoken()
	w.table.Free(named("b"))
	w.wantWoken("d")
	w.take("d", two)
	w.refuse("e", two)
}

package main

import "context"

// checkWrites compares the writes of the run with the API server's account, which the counters were compared with already.
// Of a kind of answer that came first during the run Prometheus has no zero: it guesses when the count began, so that what
// the panel shows lies between what came after the first scrape of it and all.
func (c *comparison) checkWrites(ctx context.Context, shown *Shown) error {
	series, err := c.prometheus.samples(ctx, `rest_client_requests_total{job="taskonce",method!="GET"}`, c.operator.from, c.operator.to)
	if err != nil {
		return err
	}
	measured := map[string]float64{}
	for _, answer := range shown.Answers {
		measured[answer.Legend] += answer.Value
	}
	for _, kind := range series {
		labels := textsOf(kind.Metric)
		first := kind.Values[0]
		all := c.writes[identity(map[string]string{"method": labels["method"], "code": labels["code"]})]
		const rounding = 1e-9
		least, most := all-float64(first.Value), all+rounding
		if first.Timestamp.Time().Equal(c.operator.from) {
			most = least
		}
		if got := measured[labels["method"]+" "+labels["code"]]; got < least || got > most {
			c.fault("%s %s %s: %v, and should be between %v and %v", shown.Title, labels["method"], labels["code"], got, least, most)
		}
	}
	return nil
}

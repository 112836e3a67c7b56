package report

// whys says of goals that were missed what their profiles showed (`--profile` takes them).
var whys = map[string]string{}

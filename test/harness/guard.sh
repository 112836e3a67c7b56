#!/bin/sh
# Runs the program beside it ($0.program), and ends it when the process that started it is gone, however that ended:
# a test that is killed leaves no control plane behind. Its process id is in $0.pid.
parent=$PPID
self=$$
(
  while kill -0 "$parent" && kill -0 "$self"; do sleep 1; done
  kill "$self" && sleep 5 && kill -KILL "$self"
) </dev/null >/dev/null 2>&1 &
echo "$self" >"$0.pid"
exec "$0.program" "$@"

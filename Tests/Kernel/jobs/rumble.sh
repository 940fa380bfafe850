# A game finds the pad, rumbles and dies with an effect that has no end.
modprobe uinput
modprobe evdev
arecord -q -D hw:Loop,1,0 -r 48000 -f S32_LE -c 2 --buffer-size 12000 -t raw rumble.raw 2>>/out/arecord &
recorder=$!
sleep 0.3
temblor rumble -d hw:Loop,0,0 --rate 48000 --sample-format s32 --json --no-config >report 2>said </dev/null &
pad=$!
tries=0
until grep -q '"Temblor"' /proc/bus/input/devices || [ $tries = 50 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
sleep 0.3
# peak: the greatest upper byte of what is recorded in half a second from the end.
peak() { tail -c 192000 rumble.raw | od -An -v -t d4 -w4 | awk '{ v = $1 < 0 ? -$1 : $1; if (v > m) m = v } END { print int(m / 16777216) }'; }
rumble-game >>said
fact "a game finds the pad and its effects, and is refused a spring" [ $? = 0 ]
fact "it is felt while it plays" [ "$(peak)" -gt 8 ]
sleep 1
fact "nothing hums once it has died" [ "$(peak)" = 0 ]
kill -TERM $pad
wait $pad
fact "the program ends as it is told" is ending interrupted
fact "two effects were uploaded" is uploads 2
fact "and played" is plays 2
kill -INT $recorder
wait $recorder

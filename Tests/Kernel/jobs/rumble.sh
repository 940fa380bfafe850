# A game finds the gamepad, plays a rumble, and exits while an effect without an end plays.
modprobe uinput
modprobe evdev
arecord -q -D hw:Loop,1,0 -r 48000 -f S32_LE -c 2 --buffer-size 12000 -t raw rumble.raw 2>>/out/arecord &
recorder=$!
sleep 0.3
temblor rumble -d hw:Loop,0,0 --rate 48000 --sample-format s32 --json --no-config >report 2>messages </dev/null &
program=$!
attempts=0
until grep -q '"Temblor"' /proc/bus/input/devices || [ $attempts = 50 ]; do
  sleep 0.1
  attempts=$((attempts + 1))
done
sleep 0.3
# peak: prints the maximum upper byte of the samples in the last half second of the recording.
peak() { tail -c 192000 rumble.raw | od -An -v -t d4 -w4 | awk '{ v = $1 < 0 ? -$1 : $1; if (v > m) m = v } END { print int(m / 16777216) }'; }
rumble-game >>messages
check "a game uploads a rumble and a sine, and a spring is rejected" [ $? = 0 ]
check "the sine has a signal while it plays" [ "$(peak)" -gt 8 ]
sleep 1
check "the output is silent after the game exits" [ "$(peak)" = 0 ]
kill -TERM $program
wait $program
check "the program ends on SIGTERM" is ending interrupted
check "the report counts two uploads" is uploads 2
check "the report counts two plays" is plays 2
kill -INT $recorder
wait $recorder

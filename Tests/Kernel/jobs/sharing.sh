# A card that runs at another rate, and two processes.
record earthquake-splash 44100 s32 S32_LE
play earthquake-splash -d hw:Loop,0,0 --sample-format s32
fact "a card that runs at 44,100 Hz is played at that rate" is rate 44100
fact "without underruns" is underruns 0
recorded

play earthquake-splash -d hw:Loop,0,0 &
first=$!
sleep 0.5
temblor play heartbeat -d hw:Loop,0,0 --no-config >/dev/null 2>busy </dev/null
code=$?
wait $first
fact "a busy card is refused with 1" [ $code = 1 ]
fact "and the reason" grep -q "device busy" busy
fact "which the first does not notice" is underruns 0
fact "and plays to the end" is heardToTheEnd true

(cd /dev/shm && temblor play earthquake-splash -d hw:Loop,0,1 --json --no-config >report 2>said </dev/null) &
second=$!
play earthquake-splash -d hw:Loop,0,0
fact "one process on each device of a card: the first has no underrun" is underruns 0
wait $second
cp /dev/shm/report /dev/shm/said .
fact "nor has the second" is underruns 0

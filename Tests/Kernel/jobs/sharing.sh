# A card that runs at another rate, and two processes on one card.
record earthquake-splash 44100 s32 S32_LE
play earthquake-splash -d hw:Loop,0,0 --sample-format s32
check "the rate of a card that runs at 44,100 Hz is used" is rate 44100
check "without underruns" is underruns 0
stop_recording

play earthquake-splash -d hw:Loop,0,0 &
first=$!
sleep 0.5
temblor play heartbeat -d hw:Loop,0,0 --no-config >/dev/null 2>refusal </dev/null
status=$?
wait $first
check "a busy card ends the second process with status 1" [ $status = 1 ]
check "the message states the reason" grep -q "device busy" refusal
check "the first process has no underruns" is underruns 0
check "the first process plays to the end" is heardToTheEnd true

(cd /dev/shm && temblor play earthquake-splash -d hw:Loop,0,1 --json --no-config >report 2>messages </dev/null) &
second=$!
play earthquake-splash -d hw:Loop,0,0
check "with one process on each device of a card, the first has no underruns" is underruns 0
wait $second
cp /dev/shm/report /dev/shm/messages .
check "the second has no underruns" is underruns 0

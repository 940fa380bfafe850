# A card that goes away, and a system that sleeps.
driver=/sys/bus/platform/drivers/snd_aloop
card=snd_aloop.0

play earthquake-simulation -d hw:Loop,0,0 &
player=$!
sleep 1.2
echo $card >$driver/unbind &
sleep 1.5
echo $card >$driver/bind
wait $player
fact "a card that is unplugged for 1.5 s ends with 0" [ $? = 0 ]
fact "the pattern is heard to its end" is heardToTheEnd true
fact "what was lost is 1.5 s, and up to a second until the card is found" is_between missedFrames 67200 120000

play earthquake-simulation -d hw:Loop,0,0 &
player=$!
sleep 1.2
echo $card >$driver/unbind &
wait $player
fact "a card that does not come back ends with 1" [ $? = 1 ]
fact "the pattern is not heard to its end" is heardToTheEnd false
sleep 0.5
echo $card >$driver/bind

echo 1 >/sys/module/suspend/parameters/pm_test_delay
echo devices >/sys/power/pm_test
play earthquake-simulation -d hw:Loop,0,0 &
player=$!
sleep 1.2
echo freeze >/sys/power/state
slept=$?
wait $player
fact "a system that sleeps for a second goes on playing" [ $? = 0 ]
fact "it has slept" [ $slept = 0 ]
fact "the pattern is heard to its end" is heardToTheEnd true
fact "what was lost is told" is_between missedFrames 1 120000

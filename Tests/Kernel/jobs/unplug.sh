# A card that disconnects, and a system that is suspended.
driver=/sys/bus/platform/drivers/snd_aloop
card=snd_aloop.0

play earthquake-simulation -d hw:Loop,0,0 &
player=$!
sleep 1.2
echo $card >$driver/unbind &
sleep 1.5
echo $card >$driver/bind
wait $player
check "the status is 0 after a disconnection of 1.5 s" [ $? = 0 ]
check "the pattern plays to its end" is heardToTheEnd true
check "the lost frames are 1.5 s, and up to a second until the card is reopened" is_between missedFrames 67200 120000

play earthquake-simulation -d hw:Loop,0,0 &
player=$!
sleep 1.2
echo $card >$driver/unbind &
wait $player
check "the status is 1 if the card does not return" [ $? = 1 ]
check "the pattern does not play to its end" is heardToTheEnd false
sleep 0.5
echo $card >$driver/bind

echo 1 >/sys/module/suspend/parameters/pm_test_delay
echo devices >/sys/power/pm_test
play earthquake-simulation -d hw:Loop,0,0 &
player=$!
sleep 1.2
echo freeze >/sys/power/state
suspend_status=$?
wait $player
check "playback continues after a suspension of a second" [ $? = 0 ]
check "the system was suspended" [ $suspend_status = 0 ]
check "the pattern plays to its end" is heardToTheEnd true
check "the lost frames are reported" is_between missedFrames 1 120000

# All sample formats and rates. The card's clock has steps of 4 ms, so periods are 10 ms at all rates.
for rate in 44100 48000 96000 192000; do
  for format in s16:S16_LE s24:S24_LE s24_3:S24_3LE s32:S32_LE; do
    record heartbeat $rate ${format%:*} ${format#*:}
    play heartbeat -d hw:Loop,0,0 --rate $rate --sample-format ${format%:*} \
      --period-size $((rate / 100)) --buffer-size $((rate / 25))
    check "${format%:*} at $rate Hz is played to the end" is heardToTheEnd true
    check "without underruns" is underruns 0
    stop_recording
  done
done

# Every sample format and rate. The card's clock has steps of 4 ms, so periods are 10 ms at every rate.
for rate in 44100 48000 96000 192000; do
  for format in s16:S16_LE s24:S24_LE s24_3:S24_3LE s32:S32_LE; do
    record heartbeat $rate ${format%:*} ${format#*:}
    play heartbeat -d hw:Loop,0,0 --rate $rate --sample-format ${format%:*} \
      --period-size $((rate / 100)) --buffer-size $((rate / 25))
    fact "plays ${format%:*} at $rate Hz to the end" is heardToTheEnd true
    fact "without underruns" is underruns 0
    recorded
  done
done

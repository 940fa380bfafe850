// Prints what the AHAP reader of the MPEG reference software makes of a file: a row for each effect of a band, the band's
// type (0 wave, other numbers others), then the position and, for each key frame, time, amplitude and frequency.
#include <Encoder/include/AhapEncoder.h>
#include <cmath>
#include <cstdio>

int main(int, char **arguments) {
  haptics::types::Perception perception;
  std::string name = arguments[1];
  // 100,000 ticks in a second: no time is rounded by more than 10 us.
  if (haptics::encoder::AhapEncoder::encode(name, perception, 100000) != 0) return 2;
  for (int c = 0; c < (int)perception.getChannelsSize(); ++c) {
    auto &channel = perception.getChannelAt(c);
    for (int b = 0; b < (int)channel.getBandsSize(); ++b) {
      auto &band = channel.getBandAt(b);
      bool isTransient = band.getBandType() == haptics::types::BandType::Transient;
      for (int e = 0; e < (int)band.getEffectsSize(); ++e) {
        auto &effect = band.getEffectAt(e);
        std::printf("%d %d", isTransient ? 1 : 0, effect.getPosition());
        for (int k = 0; k < (int)effect.getKeyframesSize(); ++k) {
          auto &frame = effect.getKeyframeAt(k);
          std::printf(" %d %g %d", frame.getRelativePosition().value_or(0),
                      frame.getAmplitudeModulation() ? *frame.getAmplitudeModulation() : NAN,
                      frame.getFrequencyModulation() ? *frame.getFrequencyModulation() : -1);
        }
        std::printf("\n");
      }
    }
  }
}

import HapticRender
import JSONText

extension ProfileChecker {
  /// The ratio of half an octave; below it little of sharpness is left to feel.
  private static let leastRatio = 2.0.squareRoot()
  /// The frame rate at which the fit is looked at.
  private static let rate = 48_000.0

  /// Notes where the fit to hardware leaves little, or rests on little.
  mutating func doubtFit(of profile: TransducerProfile) {
    guard let hardware = profile.hardware, let value = document.root["hardware"] else { return }
    doubtPlacement(of: profile)
    if profile.isEqualized, hardware.estimated.contains("quality"), let quality = value["quality"] {
      log.add(
        .estimatedQFactor, at: quality,
        "the Q factor is an estimate; the equaliser may not match the resonance",
        hint: "measure it with 'temblor calibrate'")
    }
    if hardware.model == nil {
      log.add(
        .missingLimit, at: value,
        "without resonance and Q factor, there is no equalisation and no excursion limit",
        hint: "measure them with 'temblor calibrate'")
    }
    if hardware.power == nil && hardware.peakPower == nil {
      log.add(.missingLimit, at: value, "without a power, there is no thermal limit")
    }
  }

  private mutating func doubtPlacement(of profile: TransducerProfile) {
    let placed = profile.placed(rate: Self.rate)
    doubtPlacement(of: profile.frequency, to: placed.frequency, at: document.root["frequency"])
    guard let law = document.root["transient"]?["frequency"] else { return }
    doubtPlacement(of: profile.transient.frequency, to: placed.transient.frequency, at: law)
  }

  private mutating func doubtPlacement(
    of asked: FrequencyMapping, to placed: FrequencyMapping, at value: JSONValue?
  ) {
    guard let value, asked.high >= asked.low * Self.leastRatio,
      placed.high < placed.low * Self.leastRatio
    else { return }
    let low = (placed.low * 10).rounded() / 10
    let high = (placed.high * 10).rounded() / 10
    log.add(
      .narrowBand, at: value,
      "of \((asked.low...asked.high).asHertz), the hardware reproduces only \((low...high).asHertz), less than half an octave",
      hint: "a larger \"drive.reach\" widens the band and lowers the level")
  }
}

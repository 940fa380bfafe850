import HapticRender
import SystemSupport

extension ProfileSummary {
  /// `; 25–46.2 Hz of it are played` where a law was narrowed.
  static func change(from asked: FrequencyMapping, to placed: FrequencyMapping) -> String {
    asked == placed ? "" : "; \(placed.text) played"
  }

  /// What hardware makes of a level, relative to a full-scale sine at its best; in g where that is known.
  func made(_ level: Double, atHertz hertz: Double) -> String {
    guard let hardware = profile.hardware else { return "" }
    let best = hardware.model.map { profile.hardwareDecibels(atHertz: $0.resonance) }
    let peak = hardware.response.map(\.decibels).max() ?? best ?? 0
    let decibels =
      profile.hardwareDecibels(atHertz: hertz) - peak + NumberFormatting.decibels(Float(level))
    guard let acceleration = hardware.acceleration else {
      return NumberFormatting.rounded(decibels, places: 1) + " dB"
    }
    let drive = (settings?.limits.power ?? 1).squareRoot()
    let most = acceleration * drive
    return NumberFormatting.rounded(
      most * NumberFormatting.amplitude(decibels: decibels), places: 2) + " g"
  }

  /// The filters and limits between the pattern and the hardware.
  func fit(_ settings: TransducerSettings) -> [(label: String, help: String)] {
    let rows = [
      ("high-pass", FrequencyMapping.hertz(settings.highPass) + " Hz"),
      ("resonance", resonance(settings)), ("levels", levels(settings)),
      ("excursion", movement(settings)), ("power", power(settings)),
    ]
    return settings.limits.power == nil ? rows : rows + [("temperature", temperatureRise(settings))]
  }

  private func resonance(_ settings: TransducerSettings) -> String {
    guard let equaliser = settings.equaliser else {
      return settings.model == nil
        ? "not equalised: resonance or Q factor unknown" : "not equalised"
    }
    func text(_ model: TransducerModel) -> String {
      "\(FrequencyMapping.hertz(model.resonance)) Hz, Q \(NumberFormatting.rounded(model.quality, places: 2))"
    }
    return
      "from \(text(equaliser.model)) to \(text(equaliser.apparent)); gain \(NumberFormatting.rounded(equaliser.gain, places: 3)) far above resonance"
  }

  private func levels(_ settings: TransducerSettings) -> String {
    let factors = placed.levelsOverSharpness(count: 33, drive: settings)
    let least = factors.min() ?? 1
    guard profile.hasEqualSensation || profile.isEqualized else { return "constant drive" }
    let aim = profile.hasEqualSensation ? "equal sensation" : "equal acceleration"
    return
      "\(aim) at every sharpness, attenuated by up to \(NumberFormatting.rounded(abs(NumberFormatting.decibels(Float(least))), places: 1)) dB"
  }

  private func movement(_ settings: TransducerSettings) -> String {
    guard let excursion = settings.limits.excursion, let hardware = profile.hardware else {
      return "not limited, since resonance or quality is not known"
    }
    let limit = NumberFormatting.rounded(excursion, places: 2)
    let origin =
      if hardware.excursion != nil && hardware.acceleration != nil {
        "from hardware.excursion"
      } else if settings.limits.power != nil {
        "excursion at peak power in the band"
      } else {
        "excursion at full scale in the band"
      }
    return "limited to \(limit) × that of a full-scale sine at resonance (\(origin))"
  }

  private func power(_ settings: TransducerSettings) -> String {
    guard let power = settings.limits.power, let hardware = profile.hardware else {
      return "not limited, since no power is known"
    }
    let continuous = hardware.power ?? (hardware.peakPower ?? 0) / 2
    func watts(_ value: Double) -> String { NumberFormatting.rounded(value, places: 3) + " W" }
    return "full scale delivers \(watts(power * continuous))"
      + (profile.amplifier.power == nil ? " (assumed; set amplifier.power)" : "")
      + ", limited to \(watts(continuous)) continuous"
      + (hardware.power == nil ? " (half the peak power)" : "")
  }

  private func temperatureRise(_ settings: TransducerSettings) -> String {
    settings.limits.thermal.text + (profile.hardware?.thermal == nil ? " (estimated)" : "")
  }
}

extension ThermalParameters {
  /// `coil 10 s, magnet 900 s; the coil has 60 %`.
  var text: String {
    func seconds(_ value: Double) -> String { NumberFormatting.rounded(value, places: 1) + " s" }
    return "time constants: coil \(seconds(coil)), magnet \(seconds(magnet)); coil fraction "
      + "\(NumberFormatting.rounded(coilFraction * 100, places: 0)) %"
  }
}

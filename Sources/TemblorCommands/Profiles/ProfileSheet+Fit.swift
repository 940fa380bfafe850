import HapticRender

extension ProfileSheet {
  /// `; 25–46.2 Hz of it are played` where a law was narrowed.
  static func change(from asked: FrequencyLaw, to placed: FrequencyLaw) -> String {
    asked == placed ? "" : "; \(placed.text) of it are played"
  }

  /// What hardware makes of a level, relative to a full-scale sine at its best; in g where that is known.
  func made(_ level: Double, atHertz hertz: Double) -> String {
    guard let hardware = profile.hardware else { return "" }
    let best = hardware.model.map { profile.hardwareDecibels(atHertz: $0.resonance) }
    let peak = hardware.response.map(\.decibels).max() ?? best ?? 0
    let decibels =
      profile.hardwareDecibels(atHertz: hertz) - peak + Figures.decibels(Float(level))
    guard let acceleration = hardware.acceleration else {
      return Figures.rounded(decibels, places: 1) + " dB"
    }
    let drive = (settings?.limits.power ?? 1).squareRoot()
    let most = acceleration * drive
    return Figures.rounded(most * Figures.amplitude(decibels: decibels), places: 2) + " g"
  }

  /// The filters and limits between the pattern and the hardware.
  func fit(_ settings: TransducerSettings) -> [(label: String, help: String)] {
    let rows = [
      ("high-pass", FrequencyLaw.hertz(settings.highPass) + " Hz"),
      ("resonance", resonance(settings)), ("levels", levels(settings)),
      ("movement", movement(settings)), ("power", power(settings)),
    ]
    return settings.limits.power == nil ? rows : rows + [("warmth", warmth(settings))]
  }

  private func resonance(_ settings: TransducerSettings) -> String {
    guard let equaliser = settings.equaliser else {
      return settings.model == nil
        ? "left as it is, since resonance or quality is not known" : "left as it is"
    }
    func text(_ model: TransducerModel) -> String {
      "\(FrequencyLaw.hertz(model.resonance)) Hz, Q \(Figures.rounded(model.quality, places: 2))"
    }
    return "\(text(equaliser.model)) made to appear as \(text(equaliser.apparent)); "
      + "drive × \(Figures.rounded(equaliser.gain, places: 3)) far above"
  }

  private func levels(_ settings: TransducerSettings) -> String {
    let factors = placed.levelsOverSharpness(count: 33, drive: settings)
    let least = factors.min() ?? 1
    guard profile.isEquallyFelt || profile.isEqualised else { return "even drive" }
    let aim = profile.isEquallyFelt ? "equally felt" : "equal acceleration"
    return "\(aim) at each sharpness, by up to "
      + "\(Figures.rounded(abs(Figures.decibels(Float(least))), places: 1)) dB less drive"
  }

  private func movement(_ settings: TransducerSettings) -> String {
    guard let excursion = settings.limits.excursion, let hardware = profile.hardware else {
      return "not limited, since resonance or quality is not known"
    }
    let limit = Figures.rounded(excursion, places: 2)
    let origin =
      if hardware.excursion != nil && hardware.acceleration != nil {
        "from the excursion"
      } else if settings.limits.power != nil {
        "what peak power makes in the band"
      } else {
        "what full scale makes in the band"
      }
    return "held to \(limit) × that of a full-scale sine at resonance, \(origin)"
  }

  private func power(_ settings: TransducerSettings) -> String {
    guard let power = settings.limits.power, let hardware = profile.hardware else {
      return "not limited, since no power is known"
    }
    let continuous = hardware.power ?? (hardware.peakPower ?? 0) / 2
    func watts(_ value: Double) -> String { Figures.rounded(value, places: 3) + " W" }
    return "full scale delivers \(watts(power * continuous))"
      + (profile.amplifier.power == nil ? " (assumed; set amplifier.power)" : "")
      + ", held to \(watts(continuous)) for long"
      + (hardware.power == nil ? " (half the peak power)" : "")
  }

  private func warmth(_ settings: TransducerSettings) -> String {
    settings.limits.thermal.text + (profile.hardware?.thermal == nil ? " (estimated)" : "")
  }
}

extension ThermalFigures {
  /// `coil 10 s, magnet 900 s; the coil has 60 %`.
  var text: String {
    func seconds(_ value: Double) -> String { Figures.rounded(value, places: 1) + " s" }
    return "coil \(seconds(coil)), magnet \(seconds(magnet)); the coil has "
      + "\(Figures.rounded(coilShare * 100, places: 0)) %"
  }
}

public import HapticRender
internal import CMath
internal import Reading
internal import SignalAnalysis

/// What stands between what drives a transducer and what was recorded of it: a resonance, a filter, a gain.
public struct RecordingMedium: Equatable, Sendable {
  /// Resonance in hertz and quality; nil where there is none.
  public let model: TransducerModel?
  /// Whether it is that of the profile, whose acceleration the recording shows then.
  public let isKnown: Bool
  /// What sounds go through behind the resonance, such as a room or a microphone, at the low rate; nil for nothing.
  private(set) var filter: RecordingFilter?
  /// How the level follows the sound behind all else; nil for not at all.
  private(set) var gain: AutomaticGain?

  /// Resonances and qualities that are tried first, and how often the steps around the best are halved.
  private static let hertz = (0..<16).map { 25 * exp(log(16) * Double($0) / 15) }
  private static let qualities = [1.2, 3, 6, 12, 24.0]
  private static let halvings = 8
  /// The resonances and qualities that are taken, and the most seconds of a sound that are looked at.
  private static let range = (hertz: 20.0...500, quality: 0.1...50)
  private static let longest = 20.0
  /// The share of a recording's power that one explains at least, and how many times as much as nothing in the way.
  private static let leastShare = 0.1
  private static let leastGain = 1.02

  init(_ model: TransducerModel?, isKnown: Bool) {
    self.model = model
    self.isKnown = isKnown
  }

  /// The same, and a filter or a gain behind it.
  func with(_ filter: RecordingFilter? = nil, gain: AutomaticGain? = nil) -> Self {
    var other = self
    if let filter { other.filter = self.filter?.followed(by: filter) ?? filter }
    other.gain = gain ?? self.gain
    return other
  }

  /// What it is like: a resonance that does not ring is a high-pass, of the first order where its poles are far apart.
  var text: String {
    let parts = [
      model.map(Self.text), filter == nil ? nil : "a room or a filter", gain == nil ? nil : "automatic gain",
    ]
    return parts.compactMap(\.self).joined(separator: " and ")
  }

  private static func text(_ model: TransducerModel) -> String {
    let (resonance, quality) = (model.resonance, model.qualityFactor)
    func hertz(_ value: Double) -> String { SentenceFormatting.number(value, places: 0) + " Hz" }
    return quality < 0.4
      ? "a high-pass at " + hertz(resonance / quality)
      : quality < 1
        ? "a high-pass at " + hertz(resonance)
        : "a resonance at \(hertz(resonance)), Q \(SentenceFormatting.number(quality, places: 1))"
  }

  func write(to json: inout JSONObjectWriter) {
    json.number("hertz", model?.resonance)
    json.number("qualityFactor", model?.qualityFactor)
    json.member("isProfile", isKnown)
    json.member("isFiltered", filter != nil)
    json.member("hasAutomaticGain", gain != nil)
  }

  /// What it costs to suppose it, as that of a change.
  var price: Double {
    (isKnown ? 0.1 : model == nil ? 0 : 0.6) + (filter == nil ? 0 : 0.6) + (gain == nil ? 0 : 0.6)
  }

  /// Seconds in which its ring falls by 60 dB.
  var ring: Double {
    (model.map { log(1_000) * $0.qualityFactor / (.pi * $0.resonance) } ?? 0)
      + (filter == nil ? 0 : RecordingFilter.reach)
  }

  /// What a drive at the low rate becomes but for its gain; a resonance turns 1 for a full-scale sine into 1 there.
  func sound(of drive: LowRateSignal) -> LowRateSignal {
    var samples = drive.samples
    if let model {
      var transducer = TransducerSimulation(model, rate: drive.rate)
      samples = samples.map { transducer.acceleration(drive: $0) }
    }
    if let filter { samples = filter.sound(of: samples) }
    return LowRateSignal(of: samples, rate: drive.rate, target: drive.rate)
  }

  /// The resonance behind which a sound, at one place, explains most of a recording; nil where none helps.
  ///
  /// - Parameter search: Seconds of the recording in which the sound begins.
  static func likeliest(between sound: [Float], and recording: [Float], rate: Double, search: Double) -> Self? {
    let reach = max(1, Int((search + 1) * rate))
    let drive =
      Array(sound.drop { $0 == 0 }.prefix(Int(longest * rate))) + [Float](repeating: 0, count: Int(0.2 * rate))
    let length = FourierTransform.fastLength(atLeast: min(recording.count, reach + drive.count) + drive.count)
    var transform = FourierTransform(length: length)
    let taken = Array(recording.prefix(length - drive.count))
    let power = Samples.energy(taken)
    guard power > 0, !drive.isEmpty else { return nil }
    let heard = transform.forward(drive)
    var bins = transform.forward(taken)
    for index in bins.indices {
      bins[index] = bins[index] * ComplexNumber(heard[index].real, -heard[index].imaginary)
    }
    let powers = heard.map { Double($0.real * $0.real + $0.imaginary * $0.imaginary) }
    /// The share of the recording that the sound behind a resonance, or as it is, explains at its best place, either way up.
    func share(_ hertz: Double, _ quality: Double) -> Double {
      var product = bins
      var energy = 0.0
      for index in bins.indices {
        // Acceleration for drive: s² / (s² + sω/Q + ω²), 1 at resonance.
        let ratio = Double(index) * rate / Double(length) / max(hertz, 1e-9)
        let (real, imaginary) = (1 - ratio * ratio, ratio / quality)
        let factor = hertz == 0 ? 0 : -ratio * ratio / quality / (real * real + imaginary * imaginary)
        let response =
          hertz == 0 ? ComplexNumber(1, 0) : ComplexNumber(Float(factor * real), Float(-factor * imaginary))
        product[index] = bins[index] * ComplexNumber(response.real, -response.imaginary)
        energy += powers[index] * Double(response.real * response.real + response.imaginary * response.imaginary)
      }
      energy *= 2 / Double(length)
      let matches = transform.backward(product).prefix(reach)
      guard energy > 0, let place = matches.indices.max(by: { abs(matches[$0]) < abs(matches[$1]) }) else { return 0 }
      // The top of the parabola through the best place and its neighbours.
      let (left, top, right) = (
        Double(matches[max(0, place - 1)]), Double(matches[place]), Double(matches[min(matches.count - 1, place + 1)])
      )
      let bend = left - 2 * top + right
      let most = bend == 0 ? top : top - (right - left) * (right - left) / (8 * bend)
      return most * most / (energy * power)
    }
    var best = (share: 0.0, hertz: 0.0, quality: 1.0)
    func look(_ hertz: Double, _ quality: Double) {
      guard range.hertz.contains(hertz), range.quality.contains(quality) else { return }
      let share = share(hertz, quality)
      if share > best.share { best = (share, hertz, quality) }
    }
    for hertz in hertz { for quality in qualities { look(hertz, quality) } }
    var (step, factor) = (exp(log(16) / 15).squareRoot(), 1.4)
    for _ in 0..<halvings {
      var before = 0.0
      while best.share > before {
        before = best.share
        let center = best
        for turned in [1 / step, step] { look(center.hertz * turned, center.quality) }
        for scaled in [1 / factor, factor] { look(best.hertz, center.quality * scaled) }
      }
      (step, factor) = (step.squareRoot(), factor.squareRoot())
    }
    guard best.share > leastShare, best.share > leastGain * share(0, 1) else { return nil }
    return Self(TransducerModel(resonance: best.hertz, qualityFactor: best.quality), isKnown: false)
  }
}

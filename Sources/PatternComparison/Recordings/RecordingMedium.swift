public import HapticRender
internal import Reading

/// What stands between what drives a transducer and what was recorded of it: a resonance, a filter, a room, a gain.
public struct RecordingMedium: Equatable, Sendable {
  /// Resonance in hertz and quality; nil where there is none.
  public let model: TransducerModel?
  /// Whether it is that of the profile, whose acceleration the recording shows then.
  public let isKnown: Bool
  /// Whether sounds go through something else than a resonance, such as a room or a microphone.
  public var isFiltered: Bool { model == nil }
  /// Whether the level follows the sound.
  public let hasAutomaticGain: Bool
  private let isRoom: Bool

  /// By how much a resonance and a quality differ at most from those of a profile that are meant, as ratios.
  private static let sameness = (hertz: 1.04, quality: 1.25)

  init(_ branch: RecordingJudge.Branch, profile: TransducerModel?) {
    hasAutomaticGain = branch.gain != nil
    isRoom = branch.response.kind.any == .anyRoom
    guard case .resonance(let modes) = branch.response.kind, let mode = modes.first else {
      (model, isKnown) = (nil, false)
      return
    }
    model = TransducerModel(resonance: mode.hertz, qualityFactor: mode.quality)
    func isNear(_ a: Double, _ b: Double, _ ratio: Double) -> Bool { a < b * ratio && b < a * ratio }
    isKnown =
      profile.map {
        isNear($0.resonance, mode.hertz, Self.sameness.hertz)
          && isNear($0.qualityFactor, mode.quality, Self.sameness.quality)
      } ?? false
  }

  /// What it is like: a resonance that does not ring is a high-pass, of the first order where its poles are far apart.
  var text: String {
    (model.map(Self.text) ?? (isRoom ? "a room" : "a filter")) + (hasAutomaticGain ? " and automatic gain" : "")
  }

  private static func text(_ model: TransducerModel) -> String {
    let (resonance, quality) = (model.resonance, model.qualityFactor)
    func hertz(_ value: Double) -> String { SentenceFormatting.number(value, places: 0) + " Hz" }
    // Where nothing rings, two digits are as much as is known.
    let cut = quality < 0.4 ? resonance / quality : resonance
    return quality < 1
      ? "a high-pass at about " + hertz((cut / 10).rounded() * 10)
      : "a resonance at \(hertz(resonance)), Q \(SentenceFormatting.number(quality, places: 1))"
  }

  func write(to json: inout JSONObjectWriter) {
    json.number("hertz", model?.resonance)
    json.number("qualityFactor", model?.qualityFactor)
    json.member("isProfile", isKnown)
    json.member("isFiltered", isFiltered)
    json.member("hasAutomaticGain", hasAutomaticGain)
  }
}

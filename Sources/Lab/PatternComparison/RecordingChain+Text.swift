internal import HapticRender
internal import Reading
internal import RecordingAnalysis

extension RecordingChain {
  /// The chain in a few words.
  ///
  /// A resonance that does not ring is a high-pass. If its poles are far apart, it is one of first
  /// order.
  var summary: String {
    (resonanceModel.map(Self.summary) ?? (hasRoomResponse ? "a room" : "a filter"))
      + (hasAutomaticGain ? " and automatic gain control" : "")
  }

  private static func summary(of model: TransducerModel) -> String {
    let resonance = model.resonanceHertz
    let quality = model.qualityFactor
    func hertz(_ value: Double) -> String { SentenceFormatting.number(value, places: 0) + " Hz" }
    // The corner frequency of a high-pass is known to two digits at most.
    let corner = quality < 0.4 ? resonance / quality : resonance
    return quality < 1
      ? "a high-pass at about " + hertz((corner / 10).rounded() * 10)
      : "a resonance at \(hertz(resonance)), Q \(SentenceFormatting.number(quality, places: 1))"
  }

  func write(to json: inout JSONObjectWriter) {
    json.writeNumberOrNull("hertz", resonanceModel?.resonanceHertz)
    json.writeNumberOrNull("qualityFactor", resonanceModel?.qualityFactor)
    json.writeMember("isProfile", matchesProfile)
    json.writeMember("isFiltered", hasNonresonantResponse)
    json.writeMember("hasAutomaticGain", hasAutomaticGain)
  }
}

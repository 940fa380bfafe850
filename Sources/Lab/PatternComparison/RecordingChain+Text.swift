internal import HapticRender
internal import Reading
internal import RecordingAnalysis

extension RecordingChain {
  /// A description of the recording chain in a few words.
  ///
  /// A resonance that does not ring is a high-pass. If its poles are far apart, it is one of first
  /// order.
  var summary: String {
    guard hasResponse else { return "a compressor" }
    return (resonanceModel.map(Self.summary) ?? (hasRoomResponse ? "a room" : "a filter"))
      + (hasAutomaticGain ? " and automatic gain control" : "")
  }

  private static func summary(of model: TransducerModel) -> String {
    let resonanceHertz = model.resonanceHertz
    let qualityFactor = model.qualityFactor
    func hertzText(_ value: Double) -> String {
      SentenceFormatting.number(value, places: 0) + " Hz"
    }
    // The corner frequency of a high-pass is known to two digits at most.
    let cornerHertz = qualityFactor < 0.4 ? resonanceHertz / qualityFactor : resonanceHertz
    return qualityFactor < 1
      ? "a high-pass at about " + hertzText((cornerHertz / 10).rounded() * 10)
      : "a resonance at \(hertzText(resonanceHertz)), "
        + "Q \(SentenceFormatting.number(qualityFactor, places: 1))"
  }

  func write(to json: inout JSONObjectWriter) {
    json.writeNumberOrNull("hertz", resonanceModel?.resonanceHertz)
    json.writeNumberOrNull("qualityFactor", resonanceModel?.qualityFactor)
    json.writeMember("isProfile", matchesProfile)
    json.writeMember("isFiltered", hasNonresonantResponse)
    json.writeMember("hasAutomaticGain", hasAutomaticGain)
  }
}

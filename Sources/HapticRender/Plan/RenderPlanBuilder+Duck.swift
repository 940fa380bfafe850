internal import HapticModel

extension RenderPlanBuilder {
  /// The intensity control with continuous events softened while a transient sounds.
  ///
  /// The profile's duck is a factor on amplitude; the control carries intensity, so the factor goes
  /// through the inverse of the intensity law. Call it when all bursts are planned.
  func ducked(_ track: ControlTimeline) -> ControlTimeline {
    guard profile.duck < 1, case .power(let exponent) = profile.intensity else { return track }
    var spans: [Range<Int64>] = []
    for voice in voices where voice.source == .burst && voice.gain > 0 {
      let span = voice.onset..<(voice.onset + voice.envelope.end)
      if let last = spans.last, last.upperBound >= span.lowerBound {
        spans[spans.count - 1] = last.lowerBound..<max(last.upperBound, span.upperBound)
      } else {
        spans.append(span)
      }
    }
    return track.scaled(by: raised(profile.duck, to: 1 / exponent), within: spans)
  }
}

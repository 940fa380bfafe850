extension RenderPlanBuilder {
  /// The intensity track with continuous events softened while a transient sounds.
  ///
  /// The profile's duck is a factor on amplitude; the track carries intensity, so the factor goes
  /// through the inverse of the intensity law. Call it when all bursts are planned.
  func ducked(_ track: ControlTrack) -> ControlTrack {
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

extension ControlTrack {
  /// The track with its values multiplied inside some spans, which are sorted and apart.
  func scaled(by factor: Double, within spans: [Range<Int64>]) -> ControlTrack {
    var track = self
    track.lines.removeAll()
    var edges = spans.flatMap { [$0.lowerBound, $0.upperBound] }[...]
    var isInside = false
    for (index, line) in lines.enumerated() {
      let end = index + 1 < lines.count ? lines[index + 1].start : .max
      var start = line.start
      while start < end {
        while let edge = edges.first, edge <= start {
          isInside.toggle()
          edges.removeFirst()
        }
        let scale = isInside ? factor : 1
        track.lines.append(
          Line(
            start: start, value: line.value(at: start) * scale, slope: line.slope * scale,
            origin: line.origin))
        start = min(end, edges.first ?? .max)
      }
    }
    return track
  }
}

public import Reading

extension Comparison {
  /// The version of the format in which comparisons are written.
  public static let formatVersion = 1

  /// Writes everything that is known of the comparison as members of an object.
  public func write(to json: inout JSONObjectWriter) {
    json.member("label", options.otherLabel)
    json.member("name", other.name)
    json.member("source", other.sourceName)
    switch equality {
    case .identical: json.member("equality", "identical")
    case .within(let noise, let decibels):
      json.member("equality", "within")
      json.number("residueDecibels", noise)
      json.number("levelDecibels", decibels)
    case .different: json.member("equality", "different")
    }
    json.array("sentences") { list in for sentence in notes + sentences + limits { list.element(sentence) } }
    if let recording { json.object("recording") { recording.write(to: &$0) } } else { json.null("recording") }
    json.object("alignment") { alignment in
      alignment.number("seconds", self.alignment.seconds)
      alignment.number("correlation", self.alignment.correlation)
    }
    json.member("match", options.levelMatch?.rawValue ?? "shared")
    json.number("referenceGain", referenceGain)
    json.number("gain", otherGain)
    json.array("differences") { list in for difference in differences { list.object { difference.write(to: &$0) } } }
    json.object("figures") { measurements[1].write(to: &$0) }
  }
}

extension Difference {
  /// Writes the difference as members of an object.
  public func write(to json: inout JSONObjectWriter) {
    json.member("kind", kind.rawValue)
    json.number("start", range.lowerBound)
    json.number("end", range.upperBound)
    json.member("throughout", isThroughout)
    json.number("amount", amount)
    json.member("unit", unit.rawValue)
    json.number("before", before)
    json.number("after", after)
    json.array("referenceEvents", layout: .line) { list in for index in referenceEvents { list.element(index) } }
    json.array("otherEvents", layout: .line) { list in for index in otherEvents { list.element(index) } }
    json.number("significance", significance)
    json.number("largestShiftSeconds", largestShift)
    json.number("confidence", confidence)
    json.number("standardError", standardError)
    json.member("sentence", sentence)
  }
}

extension RecordingMatch {
  /// Writes what is known of the recording as members of an object.
  public func write(to json: inout JSONObjectWriter) {
    let isFound = outcome == .found
    json.member("match", outcome.rawValue)
    json.number("searchSeconds", search)
    json.number("delaySeconds", isFound ? delay : nil)
    json.number("tempoPercent", isFound ? tempo : nil)
    json.number("tempoErrorPercent", isFound ? tempoError : nil)
    if isFound { json.member("inverted", isInverted) } else { json.null("inverted") }
    json.number("levelDecibels", isFound ? level : nil)
    json.number("noiseDecibels", noise)
    json.number("humDecibels", hum)
    json.number("mainsHertz", mains)
    json.array("humHertz", layout: .line) { list in for line in lines { list.element(line) } }
    json.member("judgedEvents", judgedCount)
    json.member("events", eventCount)
    json.number("leastDecibels", leastDecibels)
    json.number("leastSeconds", leastSeconds)
  }
}

extension Tolerance.Excess {
  /// Writes the excess as members of an object; what has no value is null.
  public func write(to json: inout JSONObjectWriter) {
    json.member("kind", kind.rawValue)
    json.number("value", value)
    json.number("limit", limit)
    json.member("unit", unit.rawValue)
    json.number("start", range.lowerBound)
    json.number("end", range.upperBound)
    json.member("verified", !isUnverified)
    json.member("text", text)
  }
}

extension TakeMeasurements {
  /// Writes the figures as members of an object; what has no value is null.
  public func write(to json: inout JSONObjectWriter) {
    json.number("duration", duration)
    json.number("peakDecibels", peak)
    json.number("rmsDecibels", rms)
    json.number("loudnessLUFS", loudness)
    json.number("weightedDecibels", felt)
    json.number("strongestHertz", dominant)
    json.number("spectrumHertz", centroid)
    json.member("onsets", onsetCount)
    json.member("channels", channelCount)
  }
}

extension Take {
  /// What the source is called in JSON.
  public var sourceName: String { composition == nil ? "sound" : "pattern" }
}

extension JSONObjectWriter {
  /// Writes a number, or null where there is none that JSON has.
  fileprivate mutating func number(_ key: String, _ value: Double?) {
    if let value, value.isFinite { member(key, value) } else { null(key) }
  }
}

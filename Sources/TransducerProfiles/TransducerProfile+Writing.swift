import HapticRender
import JSONText

extension TransducerProfile {
  /// Writes what differs from the defaults, in the order of the keys in `Profiles/README.md`.
  func write(to file: inout JSONObjectWriter) {
    let usual = TransducerProfile(
      name: name, summary: summary, frequency: frequency, level: level)
    file.member("name", name)
    file.member("summary", summary)
    file.object("frequency", layout: .line) { frequency.write(to: &$0) }
    if intensity != usual.intensity {
      file.object("intensity", layout: .line) { intensity.write(to: &$0) }
    }
    file.number("level", level, unless: Self.defaultLevel)
    if partials != usual.partials {
      file.array("partials") { list in
        for partial in partials {
          list.object(layout: .line) { entry in
            entry.number("ratio", partial.ratio)
            entry.number("gain", partial.gain)
          }
        }
      }
    }
    if transient != usual.transient {
      file.object("transient") { transient.write(to: &$0, otherwise: usual.transient) }
    }
    file.number("duck", duck, unless: usual.duck)
    if !thresholds.isEmpty {
      file.array("thresholds") { list in
        for point in thresholds {
          list.object(layout: .line) { entry in
            entry.number("hertz", point.hertz)
            entry.number("decibels", point.decibels)
          }
        }
      }
    }
    if let hardware { file.object("hardware") { hardware.write(to: &$0) } }
    if drive != usual.drive {
      file.object("drive") { drive.write(to: &$0, otherwise: usual.drive) }
    }
    if amplifier != usual.amplifier { file.object("amplifier") { amplifier.write(to: &$0) } }
    file.texts("sources", sources)
  }
}

extension FrequencyMapping {
  fileprivate func write(to object: inout JSONObjectWriter) {
    object.number("low", low)
    object.number("high", high)
    object.member("scale", scale.rawValue)
  }
}

extension IntensityMapping {
  fileprivate func write(to object: inout JSONObjectWriter) {
    switch self {
    case .power(let exponent):
      object.member("law", "power")
      object.number("exponent", exponent)
    case .sensation(let decibels):
      object.member("law", "sensation")
      object.number("decibels", decibels)
    }
  }
}

extension TransientShape {
  fileprivate func write(to object: inout JSONObjectWriter, otherwise usual: TransientShape) {
    if frequency != usual.frequency {
      object.object("frequency", layout: .line) { frequency.write(to: &$0) }
    }
    if length != usual.length { length.write(to: &object) }
    object.number("level", level, unless: usual.level)
    object.number("floor", floor, unless: usual.floor)
    if partials != usual.partials {
      object.array("partials") { list in
        for partial in partials {
          list.object(layout: .line) { entry in
            entry.number("ratio", partial.ratio)
            entry.number("gain", partial.gain)
            entry.number("glide", partial.glide, unless: 1)
            entry.number("stretch", partial.stretch, unless: 1)
          }
        }
      }
    }
    if squareness != usual.squareness { object.span("squareness", squareness) }
    if let attack { object.number("attack", attack) }
    if let release { object.number("release", release) }
  }
}

extension TransientShape.Length {
  fileprivate func write(to object: inout JSONObjectWriter) {
    switch self {
    case .cycles(let count, let range):
      object.number("cycles", count)
      object.number("shortest", range.lowerBound)
      object.number("longest", range.upperBound)
    case .seconds(let low, let high):
      object.object("seconds", layout: .line) { span in
        span.number("low", low)
        span.number("high", high)
      }
    }
  }
}

extension JSONObjectWriter {
  /// Writes a number as people do: whole ones without a fraction.
  mutating func number(_ key: String, _ value: Double, unless usual: Double? = nil) {
    if value == usual { return }
    if let whole = Int(exactly: value) { member(key, whole) } else { member(key, value) }
  }

  /// Writes a range as `low` and `high`.
  mutating func span(_ key: String, _ range: ClosedRange<Double>) {
    object(key, layout: .line) { span in
      span.number("low", range.lowerBound)
      span.number("high", range.upperBound)
    }
  }

  /// Writes texts as a list; none are left out.
  mutating func texts(_ key: String, _ texts: [String]) {
    if texts.isEmpty { return }
    array(key) { list in
      for text in texts { list.element(text) }
    }
  }
}

public import Reading
public import HapticRender

/// Actuator files of the Meta Haptics SDK (`.acf`, in JSON5) as profiles.
///
/// Intensity is squared, since the SDK's files hold amplitudes and their intensities are square roots.
/// Source: facebook/meta-haptics-sdk, 41c9dcb, `resources/acf` and `core/renderer_c`.
public enum ActuatorFile {
  /// What both voices of an actuator file are multiplied by, so that two at once stay below the
  /// ceiling.
  private static let headroom = 0.5
  /// Rise and fall of bursts in seconds, where the SDK's have hard edges that would pop.
  private static let edge = 0.001

  /// Reads a file as a profile with a name, and what of it a profile cannot hold.
  ///
  /// - Throws: The first error, with its line and column.
  public static func profile(of text: [UInt8], file: String, name: String) throws(InputError) -> (
    profile: TransducerProfile, losses: [String]
  ) {
    let relaxed = JSON5Text(text)
    do {
      let document = try ProfileFile.document(relaxed.json, name: file)
      var reader = ActuatorReader(root: document.root)
      return try reader.profile(name: name, headroom: headroom, edge: edge)
    } catch {
      var error = error
      error.finding.place = relaxed.place(of: error.finding.place)
      throw error
    }
  }
}

/// Reads the values of an actuator file.
private struct ActuatorReader {
  let root: JSONValue
  private var losses: [String] = []

  init(root: JSONValue) { self.root = root }

  mutating func profile(name: String, headroom: Double, edge: Double) throws(InputError) -> (
    profile: TransducerProfile, losses: [String]
  ) {
    let continuous = try object("continuous", of: root)
    let emphasis = try object("emphasis", of: root)
    let (low, high) = (try object("frequency_min", of: emphasis), try object("frequency_max", of: emphasis))
    let device = root["metadata"]?["device"]?.string ?? "an actuator"
    var profile = TransducerProfile(
      name: name, summary: "Actuator file of the Meta Haptics SDK: \(device); all levels halved.",
      frequency: FrequencyMapping(
        low: try number("frequency_min", of: continuous, in: ProfileLimits.hertz),
        high: try number("frequency_max", of: continuous, in: ProfileLimits.hertz), scale: .linear),
      intensity: .power(exponent: 2),
      level: max(try number("gain", of: continuous, in: 0...1) * headroom, ProfileLimits.level.lowerBound))
    profile.duck = try number("emphasis_ducking", of: continuous, in: 0...1)
    var transient = TransientShape(
      frequency: FrequencyMapping(
        low: try number("output_frequency", of: low, in: ProfileLimits.hertz),
        high: try number("output_frequency", of: high, in: ProfileLimits.hertz), scale: .linear),
      level: max(try number("gain", of: emphasis, in: 0...1) * headroom, ProfileLimits.level.lowerBound))
    transient.length = .seconds(
      low: try number("duration_ms", of: low, in: 1...1000) / 1000,
      high: try number("duration_ms", of: high, in: 1...1000) / 1000)
    let shapes = (try squareness(of: low), try squareness(of: high))
    transient.squareness = min(shapes.0, shapes.1)...max(shapes.0, shapes.1)
    if shapes.0 > shapes.1 {
      losses.append("a square wave at low frequencies only; its share grows with sharpness here")
    }
    transient.attack = edge
    transient.release = edge
    let fade = try number("fade_out_percent", of: emphasis, in: 0...100)
    if fade > 0 {
      let longest = max(transient.seconds(atSharpness: 0), transient.seconds(atSharpness: 1))
      transient.release = longest
      if fade < 100 { losses.append("a fade by \(fade) % falls to silence here") }
    }
    if profile.frequency.low > profile.frequency.high {
      throw refusal(continuous, "frequency_min is above frequency_max")
    }
    if transient.frequency.low > transient.frequency.high {
      throw refusal(emphasis, "the frequency of frequency_min is above that of frequency_max")
    }
    profile.transient = transient
    losses.append("frequency follows the square of sharpness in haptic clips, and sharpness here")
    profile.sources = ["Imported from an actuator file (.acf) for \(device)."]
    return (profile, losses)
  }

  private mutating func squareness(of value: JSONValue) throws(InputError) -> Double {
    guard let shape = value["shape"] else { throw refusal(value, "missing key \"shape\"") }
    switch shape.string {
    case "sine": return 0
    case "square": return 1
    case "triangle", "saw":
      losses.append("the shape \(shape.string ?? "") becomes a sine")
      return 0
    default: throw refusal(shape, "shape must be sine, square, triangle or saw")
    }
  }

  private func object(_ key: String, of owner: JSONValue) throws(InputError) -> JSONValue {
    guard let value = owner[key], value.kind == .object else {
      throw refusal(owner[key] ?? owner, "\(key) must be an object")
    }
    return value
  }

  private func number(_ key: String, of owner: JSONValue, in range: ClosedRange<Double>) throws(InputError) -> Double {
    guard let value = owner[key], let number = value.number else {
      throw refusal(owner[key] ?? owner, "\(key) must be a number")
    }
    guard range.contains(number) else {
      throw refusal(value, "\(key) is \(number), outside \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  private func refusal(_ value: JSONValue, _ message: String) -> InputError {
    InputError(Finding(.invalidValue, severity: .error, place: value.place, message))
  }
}

import Reading
public import HapticFormats
import HapticModel

extension HapticFormat {
  /// A text format for tests. Each line is a tap, a hum, or another element of a layer.
  ///
  /// ```
  /// beats 1 a title
  /// layer left
  /// tap 0 0.8 0.5
  /// hum 0.2 0.5 1 0.3
  /// fade 0.2 0.5
  /// ```
  /// A tap has a time, an intensity, and a sharpness. A hum also has a duration, after its time.
  /// `fade` sets the intensity control of its layer at a time. `allow RULE REASON` suppresses a
  /// rule.
  public static let beats = HapticFormat(
    "beats", title: "Beats", fileExtensions: ["beats"],
    rules: [.beatsUnknownWord, .beatsWrongNumber, .beatsClamped],
    recognize: { bytes in
      let prefix = Array("beats ".utf8)
      guard bytes.count >= prefix.count else { return .unrecognized }
      return prefix.indices.allSatisfy { bytes[$0] == prefix[$0] } ? .certain : .unrecognized
    }, read: { file, options in readBeats(file) },
    write: { composition, options in writeBeats(composition) },
    canonicalize: { (file) throws(InputError) in
      writeBeats(try readBeats(file).get()).files[0].bytes
    }
  )

  /// Reads a file, with the location of each element.
  private static func readBeats(_ file: SourceFile) -> ReadResult {
    var composition = HapticComposition(layers: [])
    var sourceMap = BeatsSourceMap(name: file.name)
    var findings: [Finding] = []
    var suppressions: [ReadResult.Suppression] = []
    let text = String(decoding: file.bytes, as: UTF8.self)
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      var words = line.split(separator: " ").map(String.init)
      guard !words.isEmpty else { continue }
      let word = words.removeFirst()
      func location(column: Int = 1) -> FileLocation {
        FileLocation(name: file.name, line: index + 1, column: column, path: word)
      }
      switch word {
      case "beats":
        composition.title = words.dropFirst().joined(separator: " ")
      case "layer":
        sourceMap.lines[.layer(composition.layers.count)] = index + 1
        composition.layers.append(.init(HapticPattern(), name: words.first ?? ""))
      case "allow" where !words.isEmpty:
        let rule = RuleID(words.removeFirst())
        suppressions.append(.init(rule, reason: words.joined(separator: " "), location: location()))
      case "tap", "hum", "fade":
        var numbers = words.compactMap(Double.init)
        guard numbers.count == ["tap": 3, "hum": 4, "fade": 2][word] else {
          findings.append(
            Finding(
              .beatsWrongNumber, location: location(column: word.count + 2),
              "'\(word)' needs other numbers"))
          continue
        }
        if composition.layers.isEmpty {
          composition.layers.append(.init(HapticPattern()))
        }
        let layer = composition.layers.count - 1
        let time = numbers.removeFirst()
        let duration = word == "hum" ? numbers.removeFirst() : nil
        if numbers.contains(where: { !(0...1).contains($0) }) {
          findings.append(Finding(.beatsClamped, location: location(), "a level is outside 0 to 1"))
        }
        let levels = numbers.map { Float(min(max($0, 0), 1)) }
        if word == "fade" {
          let parameters = composition.layers[layer].pattern.parameters
          sourceMap.lines[.parameter(layer: layer, index: parameters.count)] = index + 1
          composition.layers[layer].pattern.parameters.append(
            DynamicParameter(id: .hapticIntensityControl, value: levels[0], time: time))
        } else {
          let count = composition.layers[layer].pattern.events.count
          sourceMap.lines[.event(EventReference(layerIndex: layer, eventIndex: count))] = index + 1
          composition.layers[layer].pattern.events.append(
            HapticEvent(
              kind: word == "tap" ? .hapticTransient : .hapticContinuous, time: time,
              duration: duration,
              parameters: [.hapticIntensity: levels[0], .hapticSharpness: levels[1]]))
        }
      default:
        findings.append(Finding(.beatsUnknownWord, location: location(), "unknown word '\(word)'"))
      }
    }
    let isReadable = !findings.contains { $0.severity == .error }
    return ReadResult(
      composition: isReadable ? composition : nil, findings: findings,
      sourceMap: SourceMap(sourceMap.location(of:)),
      suppressions: suppressions,
      details: [("layers", "\(composition.layers.count)")])
  }

  /// Writes the events and the fades of each layer.
  private static func writeBeats(_ composition: HapticComposition) -> WrittenFiles {
    var text = "beats 1 \(composition.title ?? "")\n"
    for layer in composition.layers {
      text += "layer \(layer.name)\n"
      for event in layer.pattern.events {
        let levels = [event.value(of: .hapticIntensity), event.value(of: .hapticSharpness)]
        let times = [event.time] + (event.duration.map { [$0] } ?? [])
        let numbers = times.map { "\($0)" } + levels.map { "\($0)" }
        text += "\(event.duration == nil ? "tap" : "hum") \(numbers.joined(separator: " "))\n"
      }
      for parameter in layer.pattern.parameters {
        text += "fade \(parameter.time) \(parameter.value)\n"
      }
    }
    return WrittenFiles([.init(Array(text.utf8))])
  }
}

extension Rule {
  fileprivate static let beatsUnknownWord = error(
    "unknown-word", "grammar", "A line must begin with a word of the format.")
  fileprivate static let beatsWrongNumber = error(
    "wrong-number", "grammar", "A line must have its numbers.")
  fileprivate static let beatsClamped = warning("clamped", "range", "Levels should be from 0 to 1.")
}

/// The lines of the elements of a composition.
private struct BeatsSourceMap: Sendable {
  let name: String
  var lines: [CompositionElement: Int] = [:]

  func location(of element: CompositionElement) -> FileLocation {
    FileLocation(name: name, line: lines[element] ?? 1, column: 1, path: "\(element.noun)")
  }
}

extension CompositionElement {
  /// The name of the element in the path of a finding.
  fileprivate var noun: String {
    switch self {
    case .composition: "beats"
    case .layer: "layer"
    case .event: "event"
    case .parameter: "fade"
    case .curve: "curve"
    }
  }
}

import HapticFormats
import VendorFormats
import HapticModel

/// The cost of reading files of all formats: recognised by content, read and made into a composition.
enum FormatBenchmarks {
  /// Bytes of the files that are read, at least.
  private static let size = 4_000_000

  static func run() throws -> [Measurement] {
    var figures: [Measurement] = []
    for format in FormatRegistry.standard.formats where format.isWritable {
      for (content, composition) in [("transients", transients), ("envelopes", envelopes)] {
        for dialect in format.dialects.isEmpty ? [nil] : format.dialects.map(Optional.some) {
          let options = WritingOptions(dialect: dialect)
          var count = 1000
          var bytes: [UInt8] = []
          while bytes.count < size, count <= 1_000_000 {
            guard let writing = try? format.write(composition(count), options: options) else { break }
            bytes = writing.files[0].bytes
            count = max(count * 2, Int(Double(count) * Double(size) / Double(max(bytes.count, 1))))
          }
          let name = [format.id, dialect ?? "", content].filter { !$0.isEmpty }
          guard let figure = try measure(bytes, format, name.joined(separator: " ")) else { continue }
          figures.append(figure)
        }
      }
    }
    return figures
  }

  private static func measure(_ bytes: [UInt8], _ format: any HapticFormat, _ name: String) throws -> Measurement? {
    let file = SourceFile(bytes, name: "x." + (format.endings.first ?? format.id))
    guard bytes.count > size / 8, (try? FormatRegistry.standard.read(file)) != nil else { return nil }
    let time = try Stopwatch.median { _ = try FormatRegistry.standard.read(file) }
    return Measurement(
      name: "\(name) to composition", value: Double(bytes.count) / 1e6 / time, unit: "MB/s",
      goal: 100, isBetterWhenGreater: true)
  }

  /// Transients of many levels.
  private static func transients(_ count: Int) -> HapticComposition {
    HapticComposition(
      HapticPattern(
        events: (0..<count).map { index in
          HapticEvent(
            kind: .hapticTransient, time: Double(index) * 0.1,
            parameters: [.hapticIntensity: Float(index % 97 + 3) / 100, .hapticSharpness: Float(index % 89) / 100])
        }))
  }

  /// Continuous events with curves.
  private static func envelopes(_ count: Int) -> HapticComposition {
    var pattern = HapticPattern()
    for index in 0..<count / 16 + 1 {
      let time = Double(index) * 2
      pattern.events.append(
        HapticEvent(
          kind: .hapticContinuous, time: time, duration: 1.5, parameters: [.hapticIntensity: 1, .hapticSharpness: 0.25])
      )
      let values = (0..<16).map { step in Float((index + step * 7) % 10) / 10 }
      for id in [DynamicParameterID.hapticIntensityControl, .hapticSharpnessControl] {
        pattern.curves.append(
          ParameterCurve(
            id: id, time: time,
            controlPoints: values.enumerated().map { step, value in
              .init(time: Double(step) * 0.1, value: id == .hapticIntensityControl ? value : value / 2)
            }))
      }
    }
    return HapticComposition(pattern)
  }
}

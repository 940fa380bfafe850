import HapticFormats
import HapticModel
import HapticRender
import ShippedFiles
import VendorFormats

/// Measures reading and writing AHAP.
enum ReadingBenchmarks {
  static func run() throws -> [Measurement] {
    let documentText = try AHAPDocument(pattern: makeBenchmarkPattern()).canonicalText()
    let documentMegabytes = Double(documentText.count) / 1e6
    let parsingSeconds = try Stopwatch.medianSeconds {
      _ = try AHAPDocument(text: documentText, name: "bench")
    }
    let readingSeconds = try Stopwatch.medianSeconds {
      _ = try AHAPDocument(text: documentText, name: "bench").read()
    }
    let benchmarkDocument = try AHAPDocument(text: documentText, name: "bench")
    let writingSeconds = Stopwatch.medianSeconds { _ = benchmarkDocument.canonicalText() }
    return [
      Measurement(
        "AHAP text to document", documentMegabytes / parsingSeconds, "MB/s", targetValue: 100,
        isBetterWhenHigher: true),
      Measurement("AHAP text to pattern", documentMegabytes / readingSeconds, "MB/s"),
      Measurement("AHAP document to text", documentMegabytes / writingSeconds, "MB/s"),
    ]
  }

  /// Returns a pattern with all kinds of haptic entries: about 12 MB in the canonical, indented
  /// form.
  static func makeBenchmarkPattern() -> HapticPattern {
    HapticPattern(
      events: (0..<30_000).map { index in
        let isLong = index % 3 == 0
        return HapticEvent(
          kind: isLong ? .hapticContinuous : .hapticTransient, time: Double(index) * 0.05,
          duration: isLong ? 0.04 : nil,
          parameters: [.hapticIntensity: Float(index % 10) / 10, .hapticSharpness: 0.5])
      },
      curves: (0..<1_000).map { index in
        ParameterCurve(
          id: .hapticIntensityControl, time: Double(index) * 1.5,
          controlPoints: (0..<15).map { .init(time: Double($0) * 0.1, value: 0.5) })
      })
  }
}

/// Measures compiling patterns to render plans.
enum CompileBenchmarks {
  static func run() throws -> [Measurement] {
    var measurements: [Measurement] = []
    var secondsPerEvent: [Double] = []
    for count in [1_000, 10_000, 100_000, 1_000_000] {
      let pattern = HapticPattern(
        // The stride and the count are coprime, so the events are unsorted.
        events: (0..<count).map { index in
          HapticEvent(kind: .hapticTransient, time: Double(index &* 7_919 % count) * 0.01)
        })
      let time = try Stopwatch.medianSeconds(runs: 3) { _ = try RenderPlan(compiling: pattern) }
      secondsPerEvent.append(time / Double(count))
      measurements.append(
        Measurement("compile \(count) events", time * 1e9 / Double(count), "ns per event"))
    }
    measurements.append(
      Measurement(
        "growth from 1,000 to 1,000,000 events, 1 being linear and 2 being n log n",
        secondsPerEvent[3] / secondsPerEvent[0], "times per event", targetValue: 4))
    let curvePattern = HapticPattern(
      events: [HapticEvent(kind: .hapticContinuous, time: 0, duration: 20)],
      curves: [
        ParameterCurve(
          id: .hapticIntensityControl, time: 0,
          controlPoints: (0..<100_000).map {
            .init(time: Double($0) * 0.0002, value: Float($0 % 2))
          })
      ])
    let compilationSeconds = try Stopwatch.medianSeconds(runs: 3) {
      _ = try RenderPlan(compiling: curvePattern)
    }
    measurements.append(
      Measurement(
        "compile a curve of 100,000 points", compilationSeconds * 1e9 / 100_000, "ns per point"))
    return measurements
  }
}

/// Measures complete renderings in memory, from text to samples.
enum EndToEndBenchmarks {
  static func run() throws -> [Measurement] {
    var measurements: [Measurement] = []
    for name in ["earthquake-splash", "earthquake-simulation", "heartbeat"] {
      let text = ShippedPatterns.text(named: name) ?? []
      var seconds = 0.0
      let time = try Stopwatch.medianSeconds(runs: 11) {
        let reading = try AHAPDocument(text: text, name: name).read()
        let plan = try RenderPlan(compiling: reading.pattern)
        seconds = Double(plan.frameCount) / plan.rate
        var rendering = OfflineRenderer(plan: plan)
        var block = [Float](repeating: 0, count: 4_096)
        var count = 1
        while count > 0 {
          var span = block.mutableSpan
          count = rendering.read(into: &span)
        }
      }
      measurements.append(
        Measurement("\(name), text to samples", seconds / time, "times real time"))
    }
    return measurements
  }
}

/// Measures reading in all formats: recognition by content, parsing, and conversion to a
/// composition.
enum FormatBenchmarks {
  /// The minimum size of a pattern file that is read, in bytes.
  private static let minimumFileByteCount = 4_000_000

  static func run() throws -> [Measurement] {
    var measurements: [Measurement] = []
    for format in FormatRegistry.standard.formats where format.isWritable {
      for (content, composition) in [
        ("transients", transientPattern), ("envelopes", envelopePattern),
      ] {
        for dialect in format.dialects.isEmpty ? [nil] : format.dialects.map(Optional.some) {
          let options = WritingOptions(dialect: dialect)
          var count = 1000
          var bytes: [UInt8] = []
          while bytes.count < minimumFileByteCount, count <= 1_000_000 {
            guard let writing = try? format.write(composition(count), options: options) else {
              break
            }
            bytes = writing.files[0].bytes
            count = max(
              count * 2,
              Int(Double(count) * Double(minimumFileByteCount) / Double(max(bytes.count, 1))))
          }
          let name = [format.id, dialect ?? "", content].filter { !$0.isEmpty }
          guard let figure = try measureReading(bytes, format, name.joined(separator: " ")) else {
            continue
          }
          measurements.append(figure)
        }
      }
    }
    return measurements
  }

  private static func measureReading(_ bytes: [UInt8], _ format: HapticFormat, _ name: String)
    throws
    -> Measurement?
  {
    let patternFile = SourceFile(bytes, name: "x." + (format.fileExtensions.first ?? format.id))
    guard bytes.count > minimumFileByteCount / 8,
      (try? FormatRegistry.standard.read(patternFile)) != nil
    else {
      return nil
    }
    let readingSeconds = try Stopwatch.medianSeconds {
      _ = try FormatRegistry.standard.read(patternFile)
    }
    return Measurement(
      "\(name) to composition", Double(bytes.count) / 1e6 / readingSeconds, "MB/s",
      targetValue: 100,
      isBetterWhenHigher: true)
  }

  private static func transientPattern(_ count: Int) -> HapticComposition {
    HapticComposition(
      HapticPattern(
        events: (0..<count).map { index in
          HapticEvent(
            kind: .hapticTransient, time: Double(index) * 0.1,
            parameters: [
              .hapticIntensity: Float(index % 97 + 3) / 100,
              .hapticSharpness: Float(index % 89) / 100,
            ])
        }))
  }

  private static func envelopePattern(_ count: Int) -> HapticComposition {
    var pattern = HapticPattern()
    for index in 0..<count / 16 + 1 {
      let time = Double(index) * 2
      pattern.events.append(
        HapticEvent(
          kind: .hapticContinuous, time: time, duration: 1.5,
          parameters: [.hapticIntensity: 1, .hapticSharpness: 0.25])
      )
      let values = (0..<16).map { step in Float((index + step * 7) % 10) / 10 }
      for id in [DynamicParameterID.hapticIntensityControl, .hapticSharpnessControl] {
        pattern.curves.append(
          ParameterCurve(
            id: id, time: time,
            controlPoints: values.enumerated().map { step, value in
              .init(
                time: Double(step) * 0.1, value: id == .hapticIntensityControl ? value : value / 2)
            }))
      }
    }
    return HapticComposition(pattern)
  }
}

import Glibc
import HapticFormats
import HapticModel
import HapticRender
import Reading
import ShippedFiles
import SoundFile
import SystemSupport

/// A benchmark workload whose cost is measured relative to a reference loop, so that the result
/// hardly depends on the load of the machine.
struct Workload: Sendable {
  let workloadName: String
  /// Runs the work once, which takes tens of milliseconds.
  let runWork: @Sendable () throws -> Void
}

/// Finds workloads that have become slower than their threshold allows.
///
/// A threshold is the cost of a workload as a multiple of the reference loop. A cost is the minimum
/// CPU time of several runs, which alternate with the loop. The ratios depend on the kind of
/// processor; `--update` measures them on the current machine.
enum RegressionCheck {
  /// The maximum ratio of the measured cost of a workload to its threshold.
  static let maximumCostToThresholdRatio = 1.25
  /// The maximum number of attempts to measure a workload that is too slow.
  private static let maximumAttemptCount = 3
  /// The number of times that a workload runs in each attempt.
  private static let runsPerAttempt = 9

  /// Compares all workloads with the thresholds in a file, and returns true if all are within them.
  static func checkThresholds(_ path: String) throws -> Bool {
    let thresholds = try readThresholds(path)
    let widestNameLength = Self.workloads.map(\.workloadName.count).max() ?? 0
    var meetsThresholds = true
    for workload in workloads {
      guard let threshold = thresholds[workload.workloadName] else {
        print(
          """
          \(workload.workloadName): no threshold in \(path); add it with \
          'temblor-bench --update \(path)'
          """)
        meetsThresholds = false
        continue
      }
      var minimumCost = Double.infinity
      for _ in 0..<maximumAttemptCount where minimumCost > threshold * maximumCostToThresholdRatio {
        minimumCost = min(minimumCost, try measureRelativeCost(of: workload))
      }
      let isWithin = minimumCost <= threshold * maximumCostToThresholdRatio
      meetsThresholds = meetsThresholds && isWithin
      let name =
        workload.workloadName
        + String(repeating: " ", count: widestNameLength - workload.workloadName.count)
      let percent = Int((minimumCost / threshold * 100).rounded())
      print("\(name)  \(percent) % of its threshold\(isWithin ? "" : "  TOO SLOW")")
    }
    return meetsThresholds
  }

  static func updateThresholds(_ path: String) throws {
    var jsonWriter = JSONWriter()
    try jsonWriter.writeObject { file in
      for workload in workloads {
        file.writeMember(
          workload.workloadName, (try measureRelativeCost(of: workload) * 1_000).rounded() / 1_000)
      }
    }
    try AtomicFileWriter.write(jsonWriter.finishedText(), to: path)
  }

  private static func measureRelativeCost(of workload: Workload) throws -> Double {
    var minimumSeconds = Double.infinity
    var referenceMinimumSeconds = Double.infinity
    try workload.runWork()
    for _ in 0..<runsPerAttempt {
      referenceMinimumSeconds = min(
        referenceMinimumSeconds, Stopwatch.measureSeconds(CLOCK_THREAD_CPUTIME_ID, runReferenceLoop)
      )
      minimumSeconds = min(
        minimumSeconds, try Stopwatch.measureSeconds(CLOCK_THREAD_CPUTIME_ID, workload.runWork))
    }
    return minimumSeconds / referenceMinimumSeconds
  }

  /// The result of the reference loop. Storing it prevents the compiler from removing the loop.
  nonisolated(unsafe) private static var referenceLoopResult = 0.0

  /// Rotates sixteen phasors for the duration of 1.5 s of sound.
  private static func runReferenceLoop() {
    var realParts = [Double](repeating: 1, count: 16)
    var imaginaryParts = [Double](repeating: 0, count: 16)
    var imaginarySum = 0.0
    for _ in 0..<72_000 {
      for voice in 0..<16 {
        let angle = 0.01 + 0.001 * Double(voice)
        let x = realParts[voice]
        let y = imaginaryParts[voice]
        realParts[voice] = x - angle * y
        imaginaryParts[voice] = y + angle * realParts[voice]
        imaginarySum += imaginaryParts[voice]
      }
    }
    unsafe referenceLoopResult = imaginarySum
  }

  private static func readThresholds(_ path: String) throws -> [String: Double] {
    let thresholdDocument = try JSONDocument(text: FileSystem.read(path), name: path)
    return thresholdDocument.root.members.reduce(into: [:]) { thresholds, member in
      if let name = member.key, let number = member.number {
        thresholds[name] = number
      }
    }
  }

  static let workloads: [Workload] = voiceWorkloads + fileWorkloads

  private static let voiceWorkloads: [Workload] = [
    renderingWorkload("output chain at rest, 60 s", VoiceBenchmarks.silentPattern, repeats: 15),
    renderingWorkload(
      "one voice, 40 s", VoiceBenchmarks.continuousPattern(voiceCount: 1), repeats: 10),
    renderingWorkload("64 plain voices, 4 s", VoiceBenchmarks.continuousPattern(voiceCount: 64)),
    renderingWorkload("64 moving voices, 4 s", VoiceBenchmarks.modulatedPattern(voiceCount: 64)),
    renderingWorkload(
      "64 limited voices, 4 s", VoiceBenchmarks.continuousPattern(voiceCount: 64, intensity: 0.5)),
    renderingWorkload(
      "8 channels, 8 s", VoiceBenchmarks.continuousPattern(voiceCount: 1), channelCount: 8,
      repeats: 2),
    renderingWorkload(
      "transducer stage, 16 s", VoiceBenchmarks.continuousPattern(voiceCount: 1), isFitted: true,
      repeats: 4),
    renderingWorkload("transients, 4,000 in 4 s", VoiceBenchmarks.transientPattern(count: 4_000)),
  ]

  private static let fileWorkloads: [Workload] = {
    let documentText =
      (try? AHAPDocument(pattern: ReadingBenchmarks.makeBenchmarkPattern()).canonicalText()) ?? []
    let scatteredPattern = HapticPattern(
      events: (0..<50_000).map { index in
        HapticEvent(kind: .hapticTransient, time: Double(index &* 7_919 % 50_000) * 0.01)
      })
    let splashText = ShippedPatterns.text(named: "earthquake-splash") ?? []
    let sawtoothSamples = (0..<1 << 19).map { Float($0 % 977) / 1_000 - 0.5 }
    var workloads = [
      Workload(workloadName: "AHAP text to pattern, 12 MB") {
        _ = try AHAPDocument(text: documentText, name: "bench").read()
      },
      Workload(workloadName: "compile 50,000 events") {
        _ = try RenderPlan(compiling: scatteredPattern)
      },
      Workload(workloadName: "splash, text to samples, 20 times") {
        for _ in 0..<20 {
          let reading = try AHAPDocument(text: splashText, name: "splash").read()
          renderPlan(try RenderPlan(compiling: reading.pattern))
        }
      },
    ]
    for encoding in [SampleEncoding.s16, .s24Packed] {
      workloads.append(
        Workload(workloadName: "samples to \(encoding.rawValue), 5 million") {
          var bytes = [UInt8](repeating: 0, count: sawtoothSamples.count * encoding.bytesPerSample)
          for _ in 0..<10 {
            var encoder = SampleEncoder(encoding)
            var span = bytes.mutableSpan
            var target = unsafe span.mutableBytes
            encoder.encode(sawtoothSamples.span, into: &target)
          }
        })
    }
    return workloads
  }()

  private static func renderingWorkload(
    _ name: String, _ pattern: HapticPattern, channelCount: Int = 1, isFitted: Bool = false,
    repeats: Int = 1
  ) -> Workload {
    var channelRouting = routingWithDistinctGains(channelCount: channelCount)
    if isFitted {
      channelRouting = channelRouting.assigningTransducers(of: [VoiceBenchmarks.shakerProfile])
    }
    return Workload(workloadName: name) { [channelRouting] in
      let plan = try RenderPlan(compiling: pattern)
      for _ in 0..<repeats {
        renderPlan(plan, channelRouting)
      }
    }
  }

  static func routingWithDistinctGains(channelCount: Int) -> OutputRouting {
    OutputRouting(
      channels: (0..<channelCount).map { .init(hapticBus: 0, hapticGain: 1 - Float($0) / 20) })
  }

  /// Renders a plan in blocks of 512 frames.
  static func renderPlan(
    _ plan: RenderPlan, frameCount: Int64? = nil, _ routing: OutputRouting = OutputRouting()
  ) {
    var renderer = Renderer(plan: plan, settings: RenderSettings(routing: routing))
    var outputBlock = [Float](repeating: 0, count: 512 * renderer.channelCount)
    for _ in 0..<((frameCount ?? plan.frameCount) / 512) {
      var span = outputBlock.mutableSpan
      renderer.render(into: &span)
    }
  }
}

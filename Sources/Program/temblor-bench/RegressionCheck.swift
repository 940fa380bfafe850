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
  static let maximumCostRatio = 1.25
  /// The maximum number of attempts to measure a workload that is too slow.
  private static let maximumAttemptCount = 3
  /// The number of times that a workload runs in each attempt.
  private static let runsPerAttempt = 9

  /// Compares all workloads with the thresholds in a file, and returns true if all are within them.
  static func checkThresholds(_ path: String) throws -> Bool {
    let thresholds = try readThresholds(path)
    let widest = Self.workloads.map(\.workloadName.count).max() ?? 0
    var isGood = true
    for workload in workloads {
      guard let threshold = thresholds[workload.workloadName] else {
        print(
          """
          \(workload.workloadName): no threshold in \(path); add it with \
          'temblor-bench --update \(path)'
          """)
        isGood = false
        continue
      }
      var minimumCost = Double.infinity
      for _ in 0..<maximumAttemptCount where minimumCost > threshold * maximumCostRatio {
        minimumCost = min(minimumCost, try measureRelativeCost(of: workload))
      }
      let isWithin = minimumCost <= threshold * maximumCostRatio
      isGood = isGood && isWithin
      let name =
        workload.workloadName + String(repeating: " ", count: widest - workload.workloadName.count)
      let percent = Int((minimumCost / threshold * 100).rounded())
      print("\(name)  \(percent) % of its threshold\(isWithin ? "" : "  TOO SLOW")")
    }
    return isGood
  }

  static func updateThresholds(_ path: String) throws {
    var json = JSONWriter()
    try json.writeObject { file in
      for workload in workloads {
        file.writeMember(
          workload.workloadName, (try measureRelativeCost(of: workload) * 1_000).rounded() / 1_000)
      }
    }
    try AtomicFileWriter.write(json.finish(), to: path)
  }

  private static func measureRelativeCost(of workload: Workload) throws -> Double {
    var minimum = Double.infinity
    var referenceMinimum = Double.infinity
    try workload.runWork()
    for _ in 0..<runsPerAttempt {
      referenceMinimum = min(
        referenceMinimum, Stopwatch.measureSeconds(CLOCK_THREAD_CPUTIME_ID, runReferenceLoop))
      minimum = min(
        minimum, try Stopwatch.measureSeconds(CLOCK_THREAD_CPUTIME_ID, workload.runWork))
    }
    return minimum / referenceMinimum
  }

  /// The result of the reference loop. Storing it prevents the compiler from removing the loop.
  nonisolated(unsafe) private static var referenceResult = 0.0

  /// Rotates sixteen phasors for the duration of 1.5 s of sound.
  private static func runReferenceLoop() {
    var real = [Double](repeating: 1, count: 16)
    var imaginary = [Double](repeating: 0, count: 16)
    var sum = 0.0
    for _ in 0..<72_000 {
      for voice in 0..<16 {
        let angle = 0.01 + 0.001 * Double(voice)
        let x = real[voice]
        let y = imaginary[voice]
        real[voice] = x - angle * y
        imaginary[voice] = y + angle * real[voice]
        sum += imaginary[voice]
      }
    }
    unsafe referenceResult = sum
  }

  private static func readThresholds(_ path: String) throws -> [String: Double] {
    let document = try JSONDocument(text: FileSystem.read(path), name: path)
    return document.root.members.reduce(into: [:]) { thresholds, member in
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
    let text =
      (try? AHAPDocument(pattern: ReadingBenchmarks.makeBenchmarkPattern()).canonicalText()) ?? []
    let scattered = HapticPattern(
      events: (0..<50_000).map { index in
        HapticEvent(kind: .hapticTransient, time: Double(index &* 7_919 % 50_000) * 0.01)
      })
    let splash = ShippedPatterns.text(named: "earthquake-splash") ?? []
    let samples = (0..<1 << 19).map { Float($0 % 977) / 1_000 - 0.5 }
    var workloads = [
      Workload(workloadName: "AHAP text to pattern, 12 MB") {
        _ = try AHAPDocument(text: text, name: "bench").read()
      },
      Workload(workloadName: "compile 50,000 events") { _ = try RenderPlan(compiling: scattered) },
      Workload(workloadName: "splash, text to samples, 20 times") {
        for _ in 0..<20 {
          let reading = try AHAPDocument(text: splash, name: "splash").read()
          renderPlan(try RenderPlan(compiling: reading.pattern))
        }
      },
    ]
    for encoding in [SampleEncoding.s16, .s24Packed] {
      workloads.append(
        Workload(workloadName: "samples to \(encoding.rawValue), 5 million") {
          var bytes = [UInt8](repeating: 0, count: samples.count * encoding.byteCount)
          for _ in 0..<10 {
            var encoder = SampleEncoder(encoding)
            var span = bytes.mutableSpan
            var target = unsafe span.mutableBytes
            encoder.encode(samples.span, into: &target)
          }
        })
    }
    return workloads
  }()

  private static func renderingWorkload(
    _ name: String, _ pattern: HapticPattern, channelCount: Int = 1, isFitted: Bool = false,
    repeats: Int = 1
  ) -> Workload {
    var routing = spreadRouting(channelCount: channelCount)
    if isFitted {
      routing = routing.assigningTransducers(of: [VoiceBenchmarks.shakerProfile])
    }
    return Workload(workloadName: name) { [routing] in
      let plan = try RenderPlan(compiling: pattern)
      for _ in 0..<repeats {
        renderPlan(plan, routing)
      }
    }
  }

  static func spreadRouting(channelCount: Int) -> OutputRouting {
    OutputRouting(
      channels: (0..<channelCount).map { .init(hapticBus: 0, hapticGain: 1 - Float($0) / 20) })
  }

  /// Renders a plan in blocks of 512 frames.
  static func renderPlan(
    _ plan: RenderPlan, frameCount: Int64? = nil, _ routing: OutputRouting = OutputRouting()
  ) {
    var renderer = Renderer(plan: plan, settings: RenderSettings(routing: routing))
    var block = [Float](repeating: 0, count: 512 * renderer.channelCount)
    for _ in 0..<((frameCount ?? plan.frameCount) / 512) {
      var span = block.mutableSpan
      renderer.render(into: &span)
    }
  }
}

import ComparisonFixtures
import Glibc
import HapticModel
import HapticRender
import PatternComparison
import RecordingAnalysis
import ShippedFiles
import SignalAnalysis
import TestSupport
import Testing
import TransducerProfiles

/// Patterns compared with sensor signals of a transducer that plays them.
///
/// `TEMBLOR_TEST_TAKES` and `TEMBLOR_TEST_SEED` select random cases as in `RecordingTests`.
struct RecordingChainTests {
  /// The playback and recording chain.
  private struct Plant {
    var resonanceHertz: Double
    var qualityFactor: Double

    /// A resonance at 25–200 Hz with a quality of 2–15.
    init(using generator: inout LinearCongruentialGenerator) {
      resonanceHertz = 25 * pow(8, Double.random(in: 0...1, using: &generator))
      qualityFactor = 2 * pow(7.5, Double.random(in: 0...1, using: &generator))
    }

    init(resonanceHertz: Double, qualityFactor: Double) {
      self.resonanceHertz = resonanceHertz
      self.qualityFactor = qualityFactor
    }

    /// Returns a recording through the chain: silence, noise at −50 dB relative to the peak, and
    /// the level of a sensor.
    func recording(
      of signal: [Float], delay: Double, using generator: inout LinearCongruentialGenerator
    )
      -> Take
    {
      let leadingSilence = [Double](repeating: 0, count: Int(delay * 48_000))
      let drive = leadingSilence + signal.map(Double.init) + [Double](repeating: 0, count: 48_000)
      let transducer = SimulatedTransducer(
        resonance: resonanceHertz, qualityFactor: qualityFactor, rate: 48_000)
      return RecordingChainTests.takeWithNoise(
        transducer.response(to: drive), using: &generator)
    }
  }

  private static func takeWithNoise(
    _ samples: [Double], using generator: inout LinearCongruentialGenerator
  )
    -> Take
  {
    let peak = samples.reduce(0) { max($0, abs($1)) }
    return sound([
      samples.map { value in
        let noise = 2 * Double(generator.next() >> 40) / 16_777_216 - 1
        return Float(0.5 * (value / peak + 0.003_16 * 3.0.squareRoot() * noise))
      }
    ])
  }

  /// Returns silence, the sound with 200 reflections that decay by 60 dB in 0.3 s, 8 dB below the
  /// direct sound, and silence.
  private static func withReverberation(
    _ signal: [Float], using generator: inout LinearCongruentialGenerator
  ) -> [Double] {
    let reflections = (0..<200).map { _ in
      let seconds = Double.random(in: 0.003...0.25, using: &generator)
      return (seconds, pow(10, -3 * seconds / 0.3) * Double.random(in: -1...1, using: &generator))
    }
    let reflectionGain =
      pow(10, -8.0 / 20) / reflections.reduce(0) { $0 + $1.1 * $1.1 }.squareRoot()
    var samples = [Double](repeating: 0, count: signal.count + 60_000)
    for (seconds, gain) in [(0, 1 / reflectionGain)] + reflections {
      let firstIndex = 24_000 + Int(seconds * 48_000)
      for index in signal.indices {
        samples[firstIndex + index] += reflectionGain * gain * Double(signal[index])
      }
    }
    return samples
  }

  /// Returns silence, and the sound after a gain control that reduces 70 % of the level above a
  /// fifth of the peak.
  private static func withAutomaticGain(_ signal: [Float]) -> [Double] {
    let peak = Double(signal.reduce(0) { max($0, abs($1)) })
    var level = 0.0
    let silence = [Float](repeating: 0, count: 24_000)
    let sound = silence + signal + silence
    return stride(from: 0, to: sound.count - 47, by: 48).flatMap { start -> [Double] in
      let blockPeak = sound[start..<start + 48].reduce(0) { max($0, abs(Double($1))) } / peak
      level += (blockPeak > level ? 0.02 : 0.001_5) * (blockPeak - level)
      let gain = min(1, pow(0.2 / max(level, 1e-6), 0.7))
      return sound[start..<start + 48].map { gain * Double($0) }
    }
  }

  /// A compressor with the default settings of a browser's DynamicsCompressorNode.
  ///
  /// The values are those of `DynamicsCompressorOptions` (W3C, "Web Audio API").
  private enum BrowserCompressor {
    static let thresholdDecibels = -24.0
    /// The range of levels above the threshold in which the compression increases.
    static let kneeDecibels = 30.0
    /// The change of the input level for each decibel of the output level, above the knee.
    static let ratio = 12.0
    static let attackSeconds = 0.003
    static let releaseSeconds = 0.25
    /// The time by which the gain precedes the sound, as in browsers.
    static let lookAheadSeconds = 0.006

    /// Returns the gain for a constant level, both in decibels.
    ///
    /// The knee is a parabola (D. Giannoulis, M. Massberg, J. D. Reiss, "Digital Dynamic Range
    /// Compressor Design", Journal of the Audio Engineering Society 60, 2012), which starts at the
    /// threshold.
    static func staticGain(at level: Double) -> Double {
      let excess = max(0, level - thresholdDecibels)
      let compressed =
        excess < kneeDecibels ? excess * excess / (2 * kneeDecibels) : excess - kneeDecibels / 2
      return -(ratio - 1) / ratio * compressed
    }
  }

  /// Returns the coefficient of a filter that smooths a gain.
  ///
  /// - Parameters:
  ///   - seconds: The time constant, in seconds.
  ///   - rate: The number of gains per second.
  private static func smoothingCoefficient(seconds: Double, rate: Double) -> Double {
    1 - exp(-1 / (seconds * rate))
  }

  /// Returns the sound after the compressor of a browser, for a peak of 0.6 at its input.
  private static func withCompression(_ signal: [Double]) -> [Double] {
    let inputPeak = 0.6
    // Silence would have a level of −∞ dB.
    let minimumMagnitude = 1e-6
    let sampleRateHertz = 48_000.0
    let lookAheadSamples = Int(BrowserCompressor.lookAheadSeconds * sampleRateHertz)
    let peak = signal.reduce(0) { max($0, abs($1)) }
    var gainDecibels = 0.0
    let gains = signal.map { value -> Double in
      let magnitude = max(inputPeak * abs(value) / peak, minimumMagnitude)
      let target = BrowserCompressor.staticGain(at: 20 * log10(magnitude))
      let isAttack = target < gainDecibels
      let coefficient = smoothingCoefficient(
        seconds: isAttack ? BrowserCompressor.attackSeconds : BrowserCompressor.releaseSeconds,
        rate: sampleRateHertz)
      gainDecibels += coefficient * (target - gainDecibels)
      return pow(10, gainDecibels / 20)
    }
    return zip(signal, gains.dropFirst(lookAheadSamples)).map { $0 * $1 }
  }

  /// A gain control that gives speech and film sound a constant level.
  private enum Leveler {
    /// The duration over which the RMS value is measured, in seconds.
    static let averagingSeconds = 0.005
    /// The target level relative to the RMS value of the sound, in decibels.
    static let relativeTargetDecibels = 2.0
    static let maximumGainDecibels = 12.0
    static let attackSeconds = 0.05
    static let releaseSeconds = 1.5
  }

  /// Returns the sound after a leveler.
  private static func withLeveler(_ signal: [Double]) -> [Double] {
    let blockSampleCount = Int(Leveler.averagingSeconds * 48_000)
    func decibels(_ samples: ArraySlice<Double>) -> Double {
      10 * log10(samples.reduce(1e-12) { $0 + $1 * $1 } / Double(samples.count))
    }
    let target = decibels(signal[...]) + Leveler.relativeTargetDecibels
    var gainDecibels = Leveler.maximumGainDecibels
    return stride(from: 0, to: signal.count, by: blockSampleCount).flatMap { start -> [Double] in
      let block = signal[start..<min(signal.count, start + blockSampleCount)]
      let targetGainDecibels = min(Leveler.maximumGainDecibels, target - decibels(block))
      let isAttack = targetGainDecibels < gainDecibels
      let coefficient = smoothingCoefficient(
        seconds: isAttack ? Leveler.attackSeconds : Leveler.releaseSeconds,
        rate: 1 / Leveler.averagingSeconds)
      let change = coefficient * (targetGainDecibels - gainDecibels)
      let firstGain = pow(10, gainDecibels / 20)
      let lastGain = pow(10, (gainDecibels + change) / 20)
      gainDecibels += change
      return block.enumerated().map { index, value in
        value * (firstGain + (lastGain - firstGain) * Double(index) / Double(block.count))
      }
    }
  }

  private static var names: [String] {
    RecordingCase.count == nil
      ? ["heartbeat", "success-rhythm", "error"]
      : ShippedPatterns.names.filter {
        (try? shipped($0).events.count).map { 3...10 ~= $0 } ?? false
      }
  }

  /// Returns the differences besides delay and noise.
  private func reportedDifferences(_ comparison: Comparison) -> [Difference] {
    comparison.differences.filter { !($0.isOverall && [.time, .noise].contains($0.kind)) }
  }

  @Test func resonanceIsReportedWithoutFalseDifferences() throws {
    var generator = LinearCongruentialGenerator(seed: RecordingCase.seed)
    let caseCount = RecordingCase.count ?? 4
    var failures: [String] = []
    for caseIndex in 0..<caseCount {
      let name = Self.names.randomElement(using: &generator) ?? "heartbeat"
      let pattern = try take(try shipped(name))
      let plant = Plant(using: &generator)
      let delay = Double.random(in: 0.1...2, using: &generator)
      let comparison = Comparison(
        pattern, plant.recording(of: pattern.signal.mono, delay: delay, using: &generator))
      let model = comparison.recordingMatch?.playbackAndRecordingChain?.resonanceModel
      let isResonanceCorrect =
        model.map { abs($0.resonanceHertz / plant.resonanceHertz - 1) < 0.02 } ?? false
      if !reportedDifferences(comparison).isEmpty
        || (RecordingCase.count == nil && !isResonanceCorrect)
      {
        failures.append(
          "\(caseIndex) \(name) \(plant), \(delay): \(comparison.sentences) \(comparison.notes)")
      }
    }
    if RecordingCase.count != nil {
      print("through a resonance: \(caseCount - failures.count) of \(caseCount) correct")
    }
    #expect(failures.count * 20 <= caseCount, "\(failures.joined(separator: "\n"))")
  }

  /// Cases are random on request; otherwise they are known to succeed.
  @Test func oneChangeThroughAResonanceIsReported() throws {
    var generator = LinearCongruentialGenerator(seed: RecordingCase.seed)
    var cases: [(name: String, change: EventChange, plant: Plant)] = [
      ("success-rhythm", .missing, Plant(resonanceHertz: 60, qualityFactor: 4)),
      ("error", .moved, Plant(resonanceHertz: 40, qualityFactor: 6)),
      ("level-up", .missing, Plant(resonanceHertz: 120, qualityFactor: 8)),
    ]
    if let count = RecordingCase.count {
      cases = (0..<count).map { _ in
        let change: EventChange = Bool.random(using: &generator) ? .missing : .moved
        return (
          Self.names.randomElement(using: &generator) ?? "heartbeat", change,
          Plant(using: &generator)
        )
      }
    }
    var reportedCount = 0
    var falseCount = 0
    var failures: [String] = []
    for (name, change, plant) in cases {
      let pattern = try shipped(name)
      var changed: (pattern: HapticPattern, time: Double)?
      while changed.map({ $0.pattern.events.contains { $0.time < 0 } }) ?? true {
        changed = change.applied(to: pattern, using: &generator)
      }
      guard let changed else { continue }
      let delay = Double.random(in: 0.1...2, using: &generator)
      let comparison = Comparison(
        try take(pattern),
        plant.recording(of: try take(changed.pattern).signal.mono, delay: delay, using: &generator))
      let nearbyDifferences = reportedDifferences(comparison).filter {
        abs($0.timeRange.lowerBound - changed.time) < 0.075 && !$0.isOverall
      }
      let isReported = nearbyDifferences.contains { $0.kind == change.kind }
      // The level depends on the sensor.
      let hasFalseDifference = reportedDifferences(comparison).contains {
        $0.kind != .level && !nearbyDifferences.contains($0)
      }
      reportedCount += isReported ? 1 : 0
      falseCount += hasFalseDifference ? 1 : 0
      if !isReported || hasFalseDifference {
        failures.append(
          """
          \(name) \(change) at \(changed.time), \(plant), \(delay): \(comparison.sentences) \
          \(comparison.notes)
          """
        )
      }
    }
    if RecordingCase.count != nil {
      print(
        "changed: \(reportedCount) of \(cases.count) reported, \(falseCount) with false differences"
      )
      print(failures.joined(separator: "\n"))
    }
    #expect(RecordingCase.count != nil || failures.isEmpty, "\(failures.joined(separator: "\n"))")
  }

  /// The transducer has exactly the profile's resonance.
  @Test(arguments: ["heartbeat", "triple-tap"])
  func transducerOfTheProfileIsRecognized(
    name: String
  )
    throws
  {
    var generator = LinearCongruentialGenerator(seed: 7)
    let profile = try #require(ProfileCatalog.profile(named: "dayton-bst-1"))
    let pattern = try take(try shipped(name), profile: profile)
    let comparison = Comparison(
      pattern,
      Plant(resonanceHertz: 30, qualityFactor: 3).recording(
        of: pattern.signal.mono, delay: 0.7, using: &generator))
    #expect(comparison.recordingMatch?.outcome == .found)
    #expect(comparison.recordingMatch?.playbackAndRecordingChain?.matchesProfile == true)
    #expect(reportedDifferences(comparison).isEmpty, "\(comparison.sentences)")
    #expect(
      comparison.notes == [
        "B was compared with the simulated acceleration of the profile's transducer."
      ])
  }

  @Test func microphoneIsAHighPass() throws {
    var generator = LinearCongruentialGenerator(seed: 7)
    let pattern = try take(try shipped("success-rhythm"))
    let comparison = Comparison(
      pattern,
      Plant(resonanceHertz: 150, qualityFactor: 0.7).recording(
        of: pattern.signal.mono, delay: 0.4, using: &generator))
    #expect(reportedDifferences(comparison).isEmpty, "\(comparison.sentences)")
    let model = try #require(comparison.recordingMatch?.playbackAndRecordingChain?.resonanceModel)
    #expect(abs(model.resonanceHertz / 150 - 1) < 0.15)
    #expect(
      comparison.notes == [
        "B sounds as if recorded through a high-pass at about 130 Hz; its effect was removed."
      ])
  }

  @Test func roomIsNoDifference() throws {
    var generator = LinearCongruentialGenerator(seed: 7)
    let pattern = try take(try shipped("celebration"))
    let comparison = Comparison(
      pattern,
      Self.takeWithNoise(
        Self.withReverberation(pattern.signal.mono, using: &generator), using: &generator))
    #expect(reportedDifferences(comparison).isEmpty, "\(comparison.sentences)")
    #expect(comparison.notes == ["B sounds as if recorded through a room; its effect was removed."])
  }

  @Test(
    "The gain of a leveler after a room is not reported",
    arguments: ["swipe-heavy", "swipe-up", "level-up", "celebration"])
  func levelerAfterRoomIsNotReported(name: String) throws {
    var generator = LinearCongruentialGenerator(seed: 7)
    let pattern = try take(try shipped(name))
    let reverberant = Self.withReverberation(pattern.signal.mono, using: &generator)
    let comparison = Comparison(
      pattern, Self.takeWithNoise(Self.withLeveler(reverberant), using: &generator))
    #expect(reportedDifferences(comparison).isEmpty, "\(comparison.sentences)")
    #expect(comparison.recordingMatch?.outcome == .found)
    #expect(comparison.recordingMatch?.playbackAndRecordingChain?.hasNonresonantResponse == true)
  }

  @Test("A missing event is reported after a room and a leveler", arguments: [0, 2, 4])
  func missingEventAfterRoomAndLevelerIsReported(index: Int) throws {
    var generator = LinearCongruentialGenerator(seed: 7)
    let pattern = try shipped("celebration")
    var changed = pattern
    let seconds = changed.events.remove(at: index).time
    let reverberant = Self.withReverberation(try take(changed).signal.mono, using: &generator)
    let comparison = Comparison(
      try take(pattern), Self.takeWithNoise(Self.withLeveler(reverberant), using: &generator))
    let differences = reportedDifferences(comparison)
    #expect(differences.map(\.kind) == [.missing], "\(comparison.sentences)")
    #expect(differences.contains { abs($0.timeRange.lowerBound - seconds) < 0.03 })
  }

  /// A room is detected even with two events, and it does not explain a change of one of them.
  @Test(arguments: ["success", "encouragement"])
  func changeOfTwoEventsInARoomIsReported(
    name: String
  )
    throws
  {
    var generator = LinearCongruentialGenerator(seed: 7)
    let pattern = try shipped(name)
    #expect(pattern.events.count == 2)
    var changed = pattern
    changed.events[1].parameters[.hapticSharpness] =
      1 - (changed.events[1].parameters[.hapticSharpness] ?? 0.5)
    for recordedPattern in [pattern, changed] {
      let comparison = Comparison(
        try take(pattern),
        Self.takeWithNoise(
          Self.withReverberation(try take(recordedPattern).signal.mono, using: &generator),
          using: &generator)
      )
      #expect(comparison.recordingMatch?.outcome == .found)
      #expect(comparison.recordingMatch?.minimumDetectableDecibels == 2.5)
      #expect(
        reportedDifferences(comparison).map(\.kind)
          == (recordedPattern == changed ? [.frequency] : []),
        "\(comparison.sentences)")
    }
  }

  /// If one of two events is weaker in a recording through a resonance, only the difference
  /// of their levels is known.
  @Test func levelOfOneOfTwoEventsThroughAResonanceIsAmbiguous() throws {
    var generator = LinearCongruentialGenerator(seed: 7)
    let pattern = try shipped("success")
    var changed = pattern
    changed.events[1].parameters[.hapticIntensity] =
      0.6 * (changed.events[1].parameters[.hapticIntensity] ?? 1)
    let comparison = Comparison(
      try take(pattern),
      Plant(resonanceHertz: 120, qualityFactor: 9).recording(
        of: try take(changed).signal.mono, delay: 0.5, using: &generator))
    let difference = try #require(reportedDifferences(comparison).first, "\(comparison.sentences)")
    #expect(reportedDifferences(comparison).map(\.kind) == [.level])
    // The levels of the profile are squares of intensities.
    #expect(abs(abs(difference.amount) + 40 * log10(0.6)) < 0.5)
    #expect(
      difference.sentence.hasSuffix(
        " (the pattern has only two events, so the other event may have changed instead)."))
  }

  /// Taps with three sharpness values at uneven intervals.
  private static let rhythm = HapticPattern(
    events: [0, 0.31, 0.52, 0.95, 1.4, 1.63, 2.1, 2.38].enumerated().map { number, time in
      HapticEvent(
        kind: .hapticTransient, time: time,
        parameters: [
          .hapticIntensity: [1, 0.7][number % 2], .hapticSharpness: [0.3, 0.7, 0.5][number % 3],
        ])
    })

  @Test func missingEventInARoomIsReported() throws {
    var generator = LinearCongruentialGenerator(seed: 7)
    var changed = Self.rhythm
    changed.events.remove(at: 4)
    let comparison = Comparison(
      try take(Self.rhythm),
      Self.takeWithNoise(
        Self.withReverberation(try take(changed).signal.mono, using: &generator), using: &generator)
    )
    #expect(
      reportedDifferences(comparison).filter { $0.kind != .level }.map(\.kind) == [.missing],
      "\(comparison.sentences)")
    #expect(reportedDifferences(comparison).contains { abs($0.timeRange.lowerBound - 1.4) < 0.03 })
  }

  @Test(
    "A louder tap after the only event is an added transient, also in a filtered recording",
    arguments: [0.12, 0.17, 0.3])
  func louderTapInFilteredRecordingIsAdded(seconds: Double) throws {
    var generator = LinearCongruentialGenerator(seed: 7)
    func tap(_ time: Double, _ intensity: Float, _ sharpness: Float) -> HapticEvent {
      HapticEvent(
        kind: .hapticTransient, time: time,
        parameters: [.hapticIntensity: intensity, .hapticSharpness: sharpness])
    }
    let pattern = HapticPattern(events: [tap(0, 0.5, 0.8)])
    let recorded = HapticPattern(events: [tap(0, 0.5, 0.8), tap(seconds, 0.8, 0.5)])
    let comparison = Comparison(
      try take(pattern),
      Plant(resonanceHertz: 150, qualityFactor: 0.7).recording(
        of: try take(recorded).signal.mono, delay: 1, using: &generator))
    #expect(reportedDifferences(comparison).map(\.kind) == [.added], "\(comparison.sentences)")
    #expect(abs((comparison.recordingMatch?.delaySeconds ?? 0) - 1) < 0.01)
  }

  @Test func automaticGainIsNoDifference() throws {
    var generator = LinearCongruentialGenerator(seed: 7)
    let pattern = try take(Self.rhythm)
    let comparison = Comparison(
      pattern, Self.takeWithNoise(Self.withAutomaticGain(pattern.signal.mono), using: &generator))
    #expect(reportedDifferences(comparison).isEmpty, "\(comparison.sentences)")
    #expect(comparison.recordingMatch?.playbackAndRecordingChain != nil)
  }

  @Test(
    "The gain of a compressor after a transducer is not reported as a level change",
    arguments: [
      ("correct-answer", 42.0, 6.0), ("bennie-correct-answer", 191, 10), ("success", 93, 4.5),
      ("encouragement", 142, 10), ("capacitor_charge", 126, 7.6), ("success", 175, 7.4),
      ("feedback-correct-answer", 189, 4), ("perfect-score", 176, 3.7),
    ])
  func compressionIsNoDifference(name: String, hertz: Double, qualityFactor: Double) throws {
    var generator = LinearCongruentialGenerator(seed: 7)
    let pattern = try take(try shipped(name))
    let silence = [Double](repeating: 0, count: 24_000)
    let transducer = SimulatedTransducer(
      resonance: hertz, qualityFactor: qualityFactor, rate: 48_000)
    let output = transducer.response(to: silence + pattern.signal.mono.map(Double.init) + silence)
    let comparison = Comparison(
      pattern, Self.takeWithNoise(Self.withCompression(output), using: &generator))
    #expect(reportedDifferences(comparison).isEmpty, "\(comparison.sentences)")
    #expect(comparison.recordingMatch?.outcome == .found)
  }

  @Test(
    "The gain of a compressor is not reported as a level change",
    arguments: [
      "correct-answer", "success", "error", "warning", "bennie-soft-feedback", "heartbeat",
      "feedback-correct-answer", "swipe-heavy",
    ])
  func compressionWithoutTransducerIsNoDifference(name: String) throws {
    var generator = LinearCongruentialGenerator(seed: 7)
    let pattern = try take(try shipped(name))
    let silence = [Double](repeating: 0, count: 24_000)
    let samples = silence + pattern.signal.mono.map(Double.init) + silence
    let comparison = Comparison(
      pattern, Self.takeWithNoise(Self.withCompression(samples), using: &generator))
    // A compressor that was not identified changes the overall level, which is then compared.
    let eventDifferences = reportedDifferences(comparison).filter { !$0.isOverall }
    #expect(eventDifferences.isEmpty, "\(comparison.sentences)")
    #expect(comparison.recordingMatch?.outcome == .found)
  }

  @Test(
    "The gain of a compressor is inverted, so that level changes of 4 dB are reported",
    arguments: [0, 2, 4])
  func levelChangeAfterCompressorIsReported(index: Int) throws {
    var generator = LinearCongruentialGenerator(seed: 7)
    var changed = Self.rhythm
    let intensity = changed.events[index].parameters[.hapticIntensity] ?? 1
    // The levels of the profile are squares of intensities.
    changed.events[index].parameters[.hapticIntensity] = intensity * Float(pow(10, -4.0 / 40))
    let samples = try take(changed).signal.mono.map(Double.init)
    let comparison = Comparison(
      try take(Self.rhythm),
      Self.takeWithNoise(Self.withCompression(samples), using: &generator))
    #expect(comparison.recordingMatch?.playbackAndRecordingChain?.hasAutomaticGain == true)
    #expect(comparison.recordingMatch?.playbackAndRecordingChain?.hasNonresonantResponse == false)
    #expect(
      comparison.notes == ["B sounds as if recorded through a compressor; its effect was removed."])
    let differences = reportedDifferences(comparison)
    #expect(differences.map(\.kind) == [.level], "\(comparison.sentences)")
    let seconds = changed.events[index].time
    #expect(differences.contains { abs($0.timeRange.lowerBound - seconds) < 0.03 })
    #expect(differences.contains { abs($0.amount + 4) < 1.5 })
  }

  @Test("A level change of 4 dB is reported after an automatic gain was inverted exactly")
  func levelChangeAfterAutomaticGainIsReported() throws {
    var generator = LinearCongruentialGenerator(seed: 7)
    var changed = Self.rhythm
    // The levels of the profile are squares of intensities.
    changed.events[4].parameters[.hapticIntensity] = Float(pow(10, -4.0 / 40))
    let comparison = Comparison(
      try take(Self.rhythm),
      Self.takeWithNoise(
        Self.withAutomaticGain(try take(changed).signal.mono), using: &generator))
    #expect(comparison.recordingMatch?.playbackAndRecordingChain?.hasAutomaticGain == true)
    #expect(reportedDifferences(comparison).map(\.kind) == [.level], "\(comparison.sentences)")
    #expect(reportedDifferences(comparison).contains { abs($0.timeRange.lowerBound - 1.4) < 0.03 })
    #expect(reportedDifferences(comparison).contains { abs($0.amount + 4) < 1 })
  }
}

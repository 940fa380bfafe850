import CommandLineKit
import Glibc
import HapticFormats
import HapticModel
import HapticPlayback
import HapticRender
import PatternComparison
import PatternWorkflows
import PlaybackSessions
import Reading
import SignalAnalysis
import SoundFile
import SystemSupport

/// A take to compare by listening, which is a pattern or a recording.
struct AuditionTake: Sendable {
  static let maximumTakeCount = 9

  let name: String
  /// The name for output files, without folder and extension.
  let outputStem: String
  fileprivate let pattern: LoadedPattern?
  fileprivate let recording: Sound?
  /// The SHA-256 hash of the take's file.
  let sha256Hash: String

  init(_ input: TakeInput, reading: ReadingOptions) throws {
    name = input.name
    outputStem = FileSystem.fileStem(of: input.outputStem)
    switch input {
    case .pattern(let input):
      let loaded = try LoadedPattern(input, options: reading)
      pattern = loaded
      recording = nil
      sha256Hash = SHA256.hash(of: loaded.file.bytes)
    case .sound(let path):
      let (sound, hash) = try Self.readSound(path)
      pattern = nil
      recording = sound
      self.sha256Hash = hash
    }
  }

  private static func readSound(_ path: String) throws -> (Sound, hash: String) {
    let fileDescriptor = try FileSystem.openForReading(path)
    defer { close(fileDescriptor) }
    var fileHash = SHA256()
    var byteBlock = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe Glibc.read(fileDescriptor, &byteBlock, byteBlock.count)
      guard count > 0 else { break }
      fileHash.addBytes(Array(byteBlock[..<count]))
    }
    lseek(fileDescriptor, 0, SEEK_SET)
    let displayName = FileSystem.displayName(of: path)
    let sound = try SoundFileError.namingFileKind(of: path) { () throws(SoundFileError) in
      try Sound(readingDescriptor: fileDescriptor, path: displayName)
    }
    guard sound.frameCount > 0 else { throw FileError(displayName, "contains no audio") }
    return (sound, fileHash.hexadecimalHash())
  }

  /// Reads all takes, or returns nil if any take is invalid, because the letter of a take follows
  /// from its position. Reports the errors.
  static func readTakes(
    _ words: [String], _ arguments: ParsedArguments, _ formats: FormatRegistry, _ terminal: Terminal
  )
    throws -> (takes: [AuditionTake]?, status: ExitStatus)
  {
    let readingOptions = try SharedOptions.parseReadingOptions(arguments)
    let (inputs, problems) = TakeInput.resolve(
      words, formats: formats, soundLookup: try SharedOptions.parseSoundLookup(arguments))
    var batchWork = BatchWork(on: terminal, problems: problems)
    if problems.isEmpty, !(2...maximumTakeCount).contains(inputs.count) {
      throw UsageError(
        "'audition' accepts two to \(maximumTakeCount) patterns or sound files, not \(inputs.count)"
      )
    }
    var takes: [AuditionTake] = []
    for input in inputs {
      do {
        takes.append(try AuditionTake(input, reading: readingOptions))
      } catch {
        batchWork.recordFailure(
          ErrorReporting.messageText(error), ErrorReporting.exitStatus(of: error))
      }
    }
    return (batchWork.overallStatus == .success ? takes : nil, batchWork.overallStatus)
  }
}

extension [AuditionTake] {
  var sourcePaths: [String] { flatMap { $0.pattern?.sourcePaths ?? [$0.name] } }
  var recordingChannelCounts: [Int] { compactMap { $0.recording?.channelCount } }

  /// The maximum number of body locations in any pattern among the takes.
  var bodyLocationCount: Int {
    map { $0.pattern?.composition.bodyLocationCount ?? 0 }.max() ?? 0
  }

  /// Returns messages about body locations and recording channels that the engine mixes instead of
  /// playing them separately.
  private func mixingMessages(on engine: PlaybackEngine) -> [String] {
    let channelCount = RecordingChannels(engine.routing).separateChannelCount
    return compactMap { take in
      if let pattern = take.pattern {
        return pattern.mergedBodyLocationFinding(on: engine.profiles)?.description
      }
      guard let recording = take.recording, recording.channelCount > channelCount else {
        return nil
      }
      return "\(take.name): the mean of \(recording.channelCount) channels plays on all outputs"
    }
  }

  /// Compiles or renders the takes for playback on an engine.
  ///
  /// - Parameters:
  ///   - engine: The engine that plays the takes.
  ///   - console: The console for messages about locations and channels that are mixed.
  func prepareTakes(
    for engine: PlaybackEngine, reportingMixesTo console: LiveConsole
  ) throws -> PreparedTakes {
    let preparedTakes = try prepareTakes(for: engine)
    for message in mixingMessages(on: engine) {
      console.reportHint(message)
    }
    return preparedTakes
  }

  private func prepareTakes(for engine: PlaybackEngine) throws -> PreparedTakes {
    let recordingChannels = RecordingChannels(engine.routing)
    let resampledSounds = try map { try $0.recording?.resampled(to: engine.rate, path: $0.name) }
    let compiledPatterns = try zip(self, resampledSounds).map { take, sound in
      let plans =
        try sound.map(recordingChannels.makePlans) ?? take.pattern?.compilePlans(
          for: engine.profiles, rate: engine.rate) ?? []
      let length = sound.map { Int64($0.frameCount) } ?? plans.map(\.frameCount).max() ?? 0
      return CompiledPattern(
        name: take.name, plansByHapticBus: plans, duration: Double(length) / engine.rate)
    }
    // The channels of a comparison: all outputs if their content may differ.
    let recordedCount = resampledSounds.compactMap { $0?.channelCount }.max() ?? 1
    let signalChannelCount =
      engine.profiles.count > 1
      ? recordingChannels.separateChannelCount
      : Swift.min(recordingChannels.separateChannelCount, recordedCount)
    let takeSignals = zip(compiledPatterns, resampledSounds).map { piece, sound in
      sound.map { recordingChannels.makeSignal(of: $0, channelCount: signalChannelCount) }
        ?? piece.renderedSignal(
          onBuses: [Int](recordingChannels.hapticBusIndices.prefix(signalChannelCount)))
    }
    return PreparedTakes(patterns: compiledPatterns, signals: takeSignals)
  }
}

/// The gains that match the levels of takes, at most 1 each, and the measure of level that
/// determined them.
typealias MatchedLevels = (match: LevelMatch, gains: [Double])

struct PreparedTakes: Sendable {
  var patterns: [CompiledPattern] = []
  var signals: [Signal] = []

  /// The duration of the longest take, in seconds.
  var maximumDurationSeconds: Double { patterns.map(\.durationSeconds).max() ?? 0 }
  var areSignalsEqual: Bool {
    signals.count > 1 && signals.allSatisfy { $0.channels == signals[0].channels }
  }

  /// The maximum difference between samples of identical takes, as a fraction of the peak (−60 dB).
  /// Quantization makes 16-bit files differ.
  private static let roundingToleranceFraction: Float = 0.001

  /// A Boolean value that indicates whether gains make the first two takes identical, except for
  /// rounding.
  ///
  /// A take that ends before the other continues with silence.
  func areFirstTwoTakesIdentical(at gains: [Double]) -> Bool {
    guard signals.count > 1, signals[0].channels.count == signals[1].channels.count else {
      return false
    }
    let sampleGains = gains.map(Float.init)
    return zip(signals[0].channels, signals[1].channels).allSatisfy { first, second in
      let peaks = [
        Statistics.peak(of: first) * sampleGains[0], Statistics.peak(of: second) * sampleGains[1],
      ]
      let tolerance = Self.roundingToleranceFraction * max(peaks[0], peaks[1])
      let count = min(first.count, second.count)
      let isShared = (0..<count).allSatisfy {
        abs(first[$0] * sampleGains[0] - second[$0] * sampleGains[1]) <= tolerance
      }
      return isShared
        && first.dropFirst(count).allSatisfy { abs($0 * sampleGains[0]) <= tolerance }
        && second.dropFirst(count).allSatisfy { abs($0 * sampleGains[1]) <= tolerance }
    }
  }

  /// Returns the gains that attenuate all takes to the level of the weakest take.
  func matchedLevels(by match: LevelMatch) -> MatchedLevels {
    let takeGains = match.gains(for: signals)
    guard match == .loudness, takeGains.contains(where: { $0 != 1 }) else {
      return (match, takeGains)
    }
    // Two measures never agree to the last bit unless one replaces the other.
    return (LevelMatch.weighted.gains(for: signals) == takeGains ? .weighted : .loudness, takeGains)
  }
}

extension CompiledPattern {
  /// Renders the pattern as a signal with one channel for each output, from the haptic bus of that
  /// output.
  ///
  /// - Parameter buses: The index of the bus of each output.
  fileprivate func renderedSignal(onBuses buses: [Int]) -> Signal {
    guard let rateHertz = plansByHapticBus.first?.rate else {
      return Signal(channels: [[]], rate: 48_000)
    }
    var samplesByBus: [Int: [Float]] = [:]
    for bus in buses where plansByHapticBus.indices.contains(bus) && samplesByBus[bus] == nil {
      var rendering = OfflineRenderer(plan: plansByHapticBus[bus])
      samplesByBus[bus] = rendering.samples()
    }
    return Signal(channels: buses.map { samplesByBus[$0] ?? [] }, rate: rateHertz)
  }
}

/// Assigns the channels of a recording to output channels. Recording channels are assigned in turn
/// to the outputs with haptics, or, if no output has haptics, are played as audio. If a recording
/// has more channels than there are such outputs, the mean of its channels is played on all of
/// them.
struct RecordingChannels {
  private let channelIndicesByBus: [Int]
  private let hapticChannelCount: Int
  /// The index of the bus of each output with haptics, or only the index of the first bus if no
  /// output has haptics.
  let hapticBusIndices: [Int]

  init(_ routing: OutputRouting) {
    let hapticBuses = routing.channels.compactMap(\.hapticBus)
    hapticBusIndices = hapticBuses.isEmpty ? [0] : hapticBuses
    hapticChannelCount = hapticBuses.count
    channelIndicesByBus = (0..<routing.hapticBusCount).map { hapticBuses.firstIndex(of: $0) ?? 0 }
  }

  var separateChannelCount: Int { hapticBusIndices.count }

  /// Splits haptic buses so that each channel of a recording can play on separate outputs. The
  /// profile of each output does not change.
  ///
  /// - Parameters:
  ///   - routing: The content of each output.
  ///   - profiles: The profiles of the buses.
  ///   - channelCounts: The numbers of channels of the recordings.
  static func separatingBuses(
    _ routing: OutputRouting, _ profiles: [TransducerProfile], for channelCounts: [Int]
  ) -> (
    routing: OutputRouting, profiles: [TransducerProfile]
  ) {
    let hapticChannelCount = routing.channels.count { $0.hapticBus != nil }
    let usableChannelCounts = channelCounts.filter { $0 <= hapticChannelCount }
    var busKeys: [[Int]] = []
    var routing = routing
    var newProfiles: [TransducerProfile] = []
    var hapticChannelPosition = 0
    for index in routing.channels.indices {
      guard let bus = routing.channels[index].hapticBus else { continue }
      // Outputs that carry the same channel of every recording share a bus.
      let key = [bus] + usableChannelCounts.map { hapticChannelPosition % $0 }
      hapticChannelPosition += 1
      let number = busKeys.firstIndex(of: key) ?? busKeys.count
      if number == busKeys.count {
        busKeys.append(key)
        newProfiles.append(bus < profiles.count ? profiles[bus] : profiles[0])
      }
      routing.channels[index].hapticBus = number
    }
    return (routing, newProfiles.isEmpty ? profiles : newProfiles)
  }

  func makePlans(of sound: Sound) throws -> [RenderPlan] {
    guard hapticChannelCount > 0 else {
      let path = "recording"
      let waveform = AudioWaveform(path: path, usesVolumeEnvelope: false)
      let plan = try RenderPlan(
        compiling: HapticPattern(events: [
          HapticEvent(kind: .audioCustom, time: 0, waveform: waveform)
        ]),
        rate: sound.rate,
        samples: [
          path: AudioBuffer(interleaved: sound.interleaved, channelCount: sound.channelCount)
        ])
      return channelIndicesByBus.map { _ in plan }
    }
    var plansByChannel: [Int: RenderPlan] = [:]
    return try channelIndicesByBus.map { position in
      let channel = sound.channelCount <= hapticChannelCount ? position % sound.channelCount : -1
      if let plan = plansByChannel[channel] { return plan }
      let samples = channel < 0 ? sound.monoMix : sound.samples(ofChannel: channel)
      let plan = try RenderPlan(
        recording: AudioBuffer(interleaved: samples, channelCount: 1), rate: sound.rate)
      plansByChannel[channel] = plan
      return plan
    }
  }

  func makeSignal(of sound: Sound, channelCount: Int) -> Signal {
    let channelSamples = (0..<channelCount).map { position in
      sound.channelCount <= separateChannelCount
        ? sound.samples(ofChannel: position % sound.channelCount) : sound.monoMix
    }
    return Signal(channels: channelSamples, rate: sound.rate)
  }
}

extension Sound {
  fileprivate func samples(ofChannel index: Int) -> [Float] {
    (0..<frameCount).map { interleaved[$0 * channelCount + index] }
  }

  fileprivate var monoMix: [Float] {
    let channelWeight = 1 / Float(channelCount)
    return (0..<frameCount).map { frame in
      (0..<channelCount).reduce(0) { $0 + interleaved[frame * channelCount + $1] } * channelWeight
    }
  }
}

internal import Glibc
public import HapticFormats
internal import HapticModel
public import HapticRender
public import Reading
public import SoundFile
internal import Synchronization
internal import SystemSupport
internal import TransducerProfiles

/// The version of the program and the package, which is written to sound files.
package let temblorVersion = "0.3.0"

/// The settings for rendering patterns to sound.
public struct RenderJob: Sendable {
  /// The profile of channels without a profile of their own.
  public var profile: TransducerProfile
  /// The sample rate, in hertz.
  public var rate = 48_000
  /// The number of channels.
  public var channelCount = 1
  /// The master gain, 0 to 1.
  public var strength = 1.0
  /// A Boolean value that indicates whether the peak is normalized to −1 dBFS.
  public var isNormalized = false
  /// The number of passes; 0 to repeat until the end of the duration.
  public var passCount = 1
  /// The duration of the output in seconds, or nil for that of the pattern.
  public var duration: Double?
  /// The trailing silence in seconds, or nil for the decay time of the hardware.
  public var tail: Double?
  /// The format of the samples.
  public var sampleFormat = SampleFormat.s16
  /// The parts of the pattern that are rendered.
  public var buses = RenderSettings.Buses.all
  /// The assignment of haptics and audio to channels.
  public var routing = ChannelRouting()
  /// A Boolean value that indicates whether the output is the simulated acceleration instead of the
  /// drive signal.
  public var rendersAcceleration = false
  /// A Boolean value that indicates whether the output is the unprocessed signal: without limiter,
  /// DC blocker, hardware stages, and fades.
  public var isRaw = false
  /// The options for reading patterns.
  public var readingOptions = ReadingOptions()

  /// Returns whether to cancel. It is called between blocks of any rendering, on any thread.
  public var isCancelled: @Sendable () -> Bool = { false }

  /// Creates a job with default settings: 48 kHz, one channel, 16 bits.
  public init(profile: TransducerProfile = .phone) { self.profile = profile }

  /// Reads a pattern and compiles it for one bus.
  public func plan(_ input: PatternInput) throws -> (plan: RenderPlan, pattern: LoadedPattern) {
    let (plans, pattern) = try plans(input, for: Array(resolvedRouting().profiles.prefix(1)))
    return (plans[0], pattern)
  }

  /// Reads a pattern and compiles it for profiles.
  ///
  /// - Parameters:
  ///   - input: The pattern.
  ///   - profiles: The profiles, or nil for those of all haptic buses.
  public func plans(_ input: PatternInput, for profiles: [TransducerProfile]? = nil) throws -> (
    plans: [RenderPlan], pattern: LoadedPattern
  ) {
    var reading = readingOptions
    if isRaw, resolvedRouting().profiles.allSatisfy({ $0.name == "mpeg" }) {
      reading.signalRate = Double(rate)
    }
    let pattern = try LoadedPattern(input, reading: reading)
    let plans = try pattern.plans(
      for: profiles
        ?? resolvedRouting(bodyLocationCount: pattern.composition.bodyLocationCount).profiles,
      rate: Double(rate), isRaw: isRaw)
    return (plans, pattern)
  }

  /// Returns the routing with the profile of each haptic bus.
  ///
  /// - Parameter bodyLocationCount: The number of body locations of the pattern.
  public func resolvedRouting(bodyLocationCount: Int = 0) -> (
    routing: OutputRouting, profiles: [TransducerProfile]
  ) {
    routing.resolved(
      channelCount: channelCount, rate: Double(rate), profile: profile, buses: buses,
      bodyLocationCount: bodyLocationCount)
  }

  /// Returns the routing for the plans of a pattern. A single plan contains all body locations.
  func resolvedRouting(for plans: [RenderPlan]) -> (
    routing: OutputRouting, profiles: [TransducerProfile]
  ) {
    resolvedRouting(bodyLocationCount: plans.count > 1 ? plans[0].bodyLocationCount : 0)
  }

  /// Returns the renderer's settings for a plan.
  public func settings(for plan: RenderPlan) -> RenderSettings { settings(for: [plan]) }

  /// Returns the renderer's settings for the plans of one pattern.
  public func settings(for plans: [RenderPlan]) -> RenderSettings {
    let seconds = Double(rate)
    let routing = resolvedRouting(for: plans).routing
    let tail = tail ?? routing.tail(rate: seconds, includesTransducer: rendersAcceleration)
    var length = soundFrameCount(of: plans) + FrameConversion.frame(seconds: tail, rate: seconds)
    length += Int64(routing.channels.map(\.delay).max() ?? 0)
    if let duration {
      length = FrameConversion.frame(seconds: duration, rate: seconds)
    }
    let fade = min(
      FrameConversion.frame(seconds: OfflineRenderer.fadeDuration, rate: seconds), length)
    let silence = duration == nil ? FrameConversion.frame(seconds: tail, rate: seconds) : fade
    var settings = RenderSettings(
      routing: routing, gain: Float(strength), passCount: passCount == 0 ? nil : passCount,
      length: length,
      // The fade-out begins after the sound, unless the duration cuts the sound: then the cut must
      // not click.
      fadeLength: isRaw ? 0 : max(min(fade, silence), min(48, length)))
    settings.isRaw = isRaw
    return settings
  }

  /// Returns the number of frames of all passes, without trailing silence.
  fileprivate func soundFrameCount(of plans: [RenderPlan]) -> Int64 {
    let furtherPasses =
      passCount > 1 ? (plans.map(\.passLength).max() ?? 0) * Int64(passCount - 1) : 0
    return (plans.map(\.length).max() ?? 0) + furtherPasses
  }

  /// Writes the plans of a pattern to a sound file. The file must be seekable.
  public func write(
    _ plans: [RenderPlan], title: String, to descriptor: Int32, path: String,
    container: SoundFileFormat.Container,
    progress: (Double) -> Void
  ) throws -> RenderStatistics {
    var settings = settings(for: plans)
    if isNormalized {
      settings.gain *= try normalizingGain(plans, settings: settings)
    }
    let length = settings.length ?? 0
    var writer = try SoundFileWriter(
      descriptor: descriptor, path: path,
      format: SoundFileFormat(container: container, sampleFormat: sampleFormat), rate: rate,
      channelCount: channelCount, frameCount: length,
      tags: SoundFileTags(rendering: title, by: sourceDescription))
    var felt =
      rendersAcceleration ? SimulatedAcceleration(settings.routing, rate: Double(rate)) : nil
    let interrupted = FileError(path, "interrupted; nothing was written")
    let statistics = try renderBlocks(
      renderer(for: plans, settings: settings), interrupted: interrupted
    ) {
      block, frameCount, left in
      felt?.replaceDrive(in: &block, frameCount: frameCount)
      try writer.write(block.span.extracting(first: frameCount * channelCount))
      progress(1 - Double(left) / Double(length))
    }
    try writer.close()
    return statistics
  }

  /// Renders the plans of a pattern to the bytes of a WAV file.
  package func waveFileBytes(of plans: [RenderPlan], title: String) throws -> [UInt8] {
    guard let spool = unsafe tmpfile() else {
      throw FileError.system(title, "no space for a temporary file")
    }
    defer { unsafe fclose(spool) }
    let descriptor = unsafe fileno(spool)
    _ = try write(
      plans, title: title, to: descriptor, path: title, container: .wav, progress: { _ in })
    let size = Int(lseek(descriptor, 0, SEEK_END))
    lseek(descriptor, 0, SEEK_SET)
    var bytes: [UInt8] = []
    _ = try FileSystem.append(to: &bytes, size, of: descriptor, name: title)
    return bytes
  }

  /// Renders block by block.
  ///
  /// - Parameters:
  ///   - rendering: The renderer.
  ///   - interrupted: The error to throw if the job is canceled.
  ///   - take: Receives each block, its number of frames, and the number of remaining frames.
  func renderBlocks(
    _ rendering: consuming OfflineRenderer, interrupted: FileError,
    _ take: (_ block: inout [Float], _ frameCount: Int, _ left: Int64) throws -> Void
  ) throws -> RenderStatistics {
    var block = [Float](repeating: 0, count: 4_096 * channelCount)
    while true {
      var span = block.mutableSpan
      let count = rendering.read(into: &span)
      if count == 0 { return rendering.statistics }
      if isCancelled() { throw interrupted }
      try take(&block, count, rendering.remainingFrameCount)
    }
  }

  /// Returns a renderer for the plans of a pattern, with the send gains of an array.
  public func renderer(for plans: [RenderPlan], settings: RenderSettings) -> OfflineRenderer {
    OfflineRenderer(
      plans: plans, sendGains: routing.sendGains(rate: Double(rate)), settings: settings)
  }

  /// The array or profile, for the comment in the file.
  private var sourceDescription: String {
    routing.array.map { "array \($0.name)" } ?? "profile \(profile.name)"
  }

  /// Returns the gain that raises the peak to just below the ceiling.
  private func normalizingGain(_ plans: [RenderPlan], settings: RenderSettings) throws -> Float {
    let interrupted = FileError("render", "interrupted; nothing was written")
    let peak = try renderBlocks(renderer(for: plans, settings: settings), interrupted: interrupted)
    { _, _, _ in }
    .peak
    return peak > 0 ? Float(Renderer.maximumLevel) / peak : 1
  }
}

extension SoundFileTags {
  /// Creates the tags of a rendered file.
  ///
  /// - Parameters:
  ///   - title: The title of the pattern.
  ///   - source: The array or profile that the sound was rendered for.
  package init(rendering title: String, by source: String) {
    self.init(
      title: title, software: "Temblor \(temblorVersion)",
      comment: "\(source), rendering model \(RenderPlan.modelVersion)")
  }
}

/// Renders many patterns to sound files on all cores. A failure does not stop the others.
public struct RenderBatch: Sendable {
  /// One file to write.
  public struct Item: Sendable {
    /// The destination of a file's bytes.
    public enum Destination: Sendable {
      /// A file. It is replaced atomically when it is complete; missing folders are created.
      case file(path: String)
      /// A stream. It receives all bytes in order when the file is complete.
      case stream(name: String, write: @Sendable (Span<UInt8>) throws -> Void)
    }

    /// The pattern.
    public var input: PatternInput
    /// The destination of the sound.
    public var destination: Destination
    /// The kind of file.
    public var container: SoundFileFormat.Container
    /// The parts of the pattern that are rendered.
    public var buses: RenderSettings.Buses

    /// Creates an item.
    ///
    /// - Parameters:
    ///   - input: The pattern.
    ///   - destination: The destination of the sound.
    ///   - container: The kind of file.
    ///   - buses: The parts of the pattern that are rendered.
    public init(
      input: PatternInput, destination: Destination, container: SoundFileFormat.Container = .wav,
      buses: RenderSettings.Buses = .all
    ) {
      self.input = input
      self.destination = destination
      self.container = container
      self.buses = buses
    }

    /// The path of the file, or the name of the stream.
    public var name: String {
      switch destination {
      case .file(let path): path
      case .stream(let name, _): name
      }
    }
  }

  /// The outcome of one item.
  public enum Outcome: Sendable {
    /// The file is complete.
    ///
    /// The associated values are the duration in seconds, without trailing silence unless the job
    /// has a duration; the statistics of the renderer; and warnings about deviations in playback.
    case written(seconds: Double, statistics: RenderStatistics, warnings: [Finding])
    /// Nothing was written.
    case failed(any Error)
  }

  /// The settings for all patterns. The buses are those of each item.
  public var job: RenderJob
  /// The files to write.
  public var items: [Item]

  /// Creates a batch from a job and its items.
  public init(job: RenderJob, items: [Item]) {
    self.job = job
    self.items = items
  }

  /// Renders all items. Returns their outcomes in the order of the items.
  ///
  /// The number of threads equals that of cores. `job.isCancelled` cancels both running and waiting
  /// items.
  ///
  /// - Parameter progress: Called from time to time on the current thread, with the number of
  ///   completed files and, for a single file, the rendered fraction. Without it, a single file is
  ///   rendered on the current thread.
  public func run(progress: ((_ doneCount: Int, _ fraction: Double) -> Void)? = nil) -> [Outcome] {
    let inputs = overwriteCheck()
    let outcomes = Mutex(items.map { Outcome.failed(FileError($0.name, "not started")) })
    let fraction = Mutex(0.0)
    let work: @Sendable (Int) -> Void = { index in
      let outcome = render(items[index], overwriteCheck: inputs) { part in
        if items.count == 1 {
          fraction.withLock { $0 = part }
        }
      }
      outcomes.withLock { $0[index] = outcome }
    }
    if items.count == 1 && progress == nil {
      // A single file would gain nothing from threads.
      work(0)
    } else {
      WorkerPool.run(jobCount: items.count, work: work) { done in
        progress?(done, fraction.withLock { $0 })
      }
    }
    return outcomes.withLock { $0 }
  }

  /// Returns a check with the source files of all patterns, so that no output replaces a sound file
  /// of another pattern.
  private func overwriteCheck() -> InputOverwriteCheck {
    let wouldReplace = items.contains {
      if case .file(let path) = $0.destination {
        FileSystem.entry(at: path) != .missing
      } else {
        false
      }
    }
    // The sources of a single pattern are known when it is read.
    guard items.count > 1, wouldReplace else { return InputOverwriteCheck() }
    let paths = Mutex<[String]>([])
    WorkerPool.run(jobCount: items.count) { index in
      let sources = items[index].input.sourcePaths
      paths.withLock { $0 += sources }
    } meanwhile: { _ in
    }
    return InputOverwriteCheck(reading: paths.withLock { $0 })
  }

  /// Renders one pattern to its file. Any error becomes the outcome.
  ///
  /// - Parameters:
  ///   - item: The item to render.
  ///   - overwriteCheck: The source files of all patterns.
  ///   - progress: Receives the rendered fraction.
  private func render(
    _ item: Item, overwriteCheck: InputOverwriteCheck, progress: (Double) -> Void
  )
    -> Outcome
  {
    do {
      if job.isCancelled() { throw FileError(item.name, "interrupted") }
      var job = job
      job.buses = item.buses
      let (plans, pattern) = try job.plans(item.input)
      let name = (pattern.composition.title.map { "\($0): " } ?? "") + item.input.outputStem
      let statistics: RenderStatistics
      switch item.destination {
      case .file(let path):
        var overwriteCheck = overwriteCheck
        overwriteCheck.addInputs(pattern.sourcePaths)
        guard !overwriteCheck.isInput(path) else {
          throw FileError(path, "is an input; choose another '--output'")
        }
        try FileSystem.makeFolder(FileSystem.folder(of: path))
        var file = try AtomicFileWriter(path)
        statistics = try job.write(
          plans, title: name, to: file.descriptor, path: path, container: item.container,
          progress: progress)
        // The file is not flushed: it can be rendered again, and waiting for the disk would slow
        // down a batch.
        try file.commit(isFlushed: false)
      case .stream(_, let write):
        statistics = try renderToStream(plans, item: item, job: job, title: name, to: write)
      }
      let seconds = job.duration ?? Double(job.soundFrameCount(of: plans)) / Double(job.rate)
      let merged =
        pattern.mergedBodyLocations(on: job.resolvedRouting(for: plans).profiles).map { [$0] } ?? []
      return .written(
        seconds: seconds, statistics: statistics, warnings: pattern.warnings() + merged)
    } catch {
      return .failed(error)
    }
  }

  /// Renders to a temporary file, because the header is completed last, and copies it to the
  /// stream.
  private func renderToStream(
    _ plans: [RenderPlan], item: Item, job: RenderJob, title: String,
    to write: (Span<UInt8>) throws -> Void
  ) throws -> RenderStatistics {
    guard let spool = unsafe tmpfile() else {
      throw FileError.system(item.name, "no space for a temporary file")
    }
    defer { unsafe fclose(spool) }
    let descriptor = unsafe fileno(spool)
    let statistics = try job.write(
      plans, title: title, to: descriptor, path: item.name, container: item.container
    ) {
      _ in
    }
    lseek(descriptor, 0, SEEK_SET)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe read(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return statistics }
      try write(buffer.span.extracting(first: count))
    }
  }
}

/// Replaces drive signals by the simulated acceleration of their transducers.
struct SimulatedAcceleration {
  /// The simulation of each channel, or nil for a channel without a transducer of known resonance.
  private var transducers: [TransducerSimulation?]

  init(_ routing: OutputRouting, rate: Double) {
    transducers = routing.channels.map { channel in
      channel.transducer?.hardware.flatMap { hardware in
        hardware.model.map { TransducerSimulation($0, modes: hardware.modes, rate: rate) }
      }
    }
  }

  /// Replaces the drive by the acceleration in the first frames of a block.
  mutating func replaceDrive(in block: inout [Float], frameCount: Int) {
    let count = transducers.count
    for channel in 0..<count {
      guard var transducer = transducers[channel] else { continue }
      for index in stride(from: channel, to: frameCount * count, by: count) {
        block[index] = transducer.nextAcceleration(drive: block[index])
      }
      transducers[channel] = transducer
    }
  }
}

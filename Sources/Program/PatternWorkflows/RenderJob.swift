internal import Glibc
public import HapticFormats
internal import HapticModel
public import HapticRender
public import Reading
public import SoundFile
internal import Synchronization
internal import SystemSupport
internal import TransducerProfiles

/// The version of the program and the package, which sound files name as their software.
package let temblorVersion = "0.3.0"

/// How patterns are made into sound.
public struct RenderJob: Sendable {
  /// The profile of channels that have none of their own.
  public var profile: TransducerProfile
  /// Frames per second.
  public var rate = 48_000
  /// Channels of the file.
  public var channelCount = 1
  /// The factor on everything, 0 to 1.
  public var strength = 1.0
  /// Whether the greatest peak is brought to -1 dBFS.
  public var isNormalized = false
  /// How often the pattern is played; 0 is until the duration ends.
  public var passCount = 1
  /// Seconds of the output, or nothing for the pattern's own.
  public var duration: Double?
  /// Seconds of silence behind the sound, or nothing for as long as the hardware needs to come to
  /// rest.
  public var tail: Double?
  /// How samples are written.
  public var sampleFormat = SampleFormat.s16
  /// What of the pattern is heard.
  public var buses = RenderSettings.Buses.all
  /// What the channels carry, where it is not the usual.
  public var routing = ChannelRouting()
  /// Whether the file is what the transducer would do instead of what drives it.
  public var rendersAcceleration = false
  /// Whether the file is the model's signal alone: no limiter, removal of offsets, hardware stage
  /// or edges.
  public var isRaw = false
  /// How patterns are read.
  public var readingOptions = ReadingOptions()

  /// Asked between blocks of any rendering, on any thread; where it answers true, the work is given
  /// up.
  public var isCancelled: @Sendable () -> Bool = { false }

  /// A job with the usual settings: 48 kHz, one channel, 16 bits.
  public init(profile: TransducerProfile = .phone) { self.profile = profile }

  /// Compiles a pattern for this job, on one bus.
  public func plan(_ input: PatternInput) throws -> (plan: RenderPlan, pattern: LoadedPattern) {
    let (plans, pattern) = try plans(input, for: Array(resolvedRouting().profiles.prefix(1)))
    return (plans[0], pattern)
  }

  /// Compiles a pattern for profiles, those of all its haptic buses unless told otherwise.
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

  /// What the channels carry, and the profiles for it.
  ///
  /// - Parameter placeCount: Places of the pattern.
  public func resolvedRouting(bodyLocationCount placeCount: Int = 0) -> (
    routing: OutputRouting, profiles: [TransducerProfile]
  ) {
    routing.resolved(
      channelCount: channelCount, rate: Double(rate), profile: profile, buses: buses,
      bodyLocationCount: placeCount)
  }

  /// The same for plans of a pattern; one alone is that of all places.
  func resolvedRouting(for plans: [RenderPlan]) -> (
    routing: OutputRouting, profiles: [TransducerProfile]
  ) {
    resolvedRouting(bodyLocationCount: plans.count > 1 ? plans[0].bodyLocationCount : 0)
  }

  /// The renderer's settings for a plan.
  public func settings(for plan: RenderPlan) -> RenderSettings { settings(for: [plan]) }

  /// The renderer's settings for the plans of one pattern.
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
      // The fade stays behind the sound, unless the file is cut; then a cut must not click.
      fadeLength: isRaw ? 0 : max(min(fade, silence), min(48, length)))
    settings.isRaw = isRaw
    return settings
  }

  /// The frames of all passes, without silence behind them.
  fileprivate func soundFrameCount(of plans: [RenderPlan]) -> Int64 {
    let furtherPasses =
      passCount > 1 ? (plans.map(\.passLength).max() ?? 0) * Int64(passCount - 1) : 0
    return (plans.map(\.length).max() ?? 0) + furtherPasses
  }

  /// Writes a pattern's plans as a sound file that can be sought.
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

  /// Renders a pattern's plans as the bytes of a WAV file.
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

  /// Renders block by block, with the frames of each and those that are left; throws `interrupted`
  /// where it is cancelled.
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

  /// A rendering of a pattern's plans, each heard where the array puts it.
  public func renderer(for plans: [RenderPlan], settings: RenderSettings) -> OfflineRenderer {
    OfflineRenderer(
      plans: plans, sendGains: routing.sendGains(rate: Double(rate)), settings: settings)
  }

  /// What shaped the sound, as the file tells it.
  private var sourceDescription: String {
    routing.array.map { "array \($0.name)" } ?? "profile \(profile.name)"
  }

  /// The factor that brings the greatest peak just below the ceiling.
  private func normalizingGain(_ plans: [RenderPlan], settings: RenderSettings) throws -> Float {
    let interrupted = FileError("render", "interrupted; nothing was written")
    let peak = try renderBlocks(renderer(for: plans, settings: settings), interrupted: interrupted)
    { _, _, _ in }
    .peak
    return peak > 0 ? Float(Renderer.maximumLevel) / peak : 1
  }
}

extension SoundFileTags {
  /// What a rendered file says about itself: its title, the program, and what shaped the sound.
  package init(rendering title: String, by source: String) {
    self.init(
      title: title, software: "Temblor \(temblorVersion)",
      comment: "\(source), rendering model \(RenderPlan.modelVersion)")
  }
}

/// Renders many patterns to sound files on all cores; goes on when one fails.
public struct RenderBatch: Sendable {
  /// One file to write.
  public struct Item: Sendable {
    /// Where the bytes of a file go.
    public enum Destination: Sendable {
      /// A file, replaced as a whole once it is complete; its folder is made where there is none.
      case file(path: String)
      /// A stream, which gets all bytes in order once the file is complete.
      case stream(name: String, write: @Sendable (Span<UInt8>) throws -> Void)
    }

    /// The pattern.
    public var input: PatternInput
    /// Where the sound goes.
    public var destination: Destination
    /// The kind of file.
    public var container: SoundFileFormat.Container
    /// What of the pattern is in it.
    public var buses: RenderSettings.Buses

    /// A pattern and the file to make of it.
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

  /// What became of one file.
  public enum Outcome: Sendable {
    /// The file is complete: seconds of sound, without the silence behind it unless the job has a
    /// duration; what the renderer counted; and what of the pattern does not play as it is written.
    case written(seconds: Double, statistics: RenderStatistics, warnings: [Finding])
    /// Nothing was written, and why.
    case failed(any Error)
  }

  /// How every pattern is rendered; each item has buses of its own.
  public var job: RenderJob
  /// The files to write.
  public var items: [Item]

  /// Files to write by one job.
  public init(job: RenderJob, items: [Item]) {
    self.job = job
    self.items = items
  }

  /// Renders everything and answers what became of each item, in their order.
  ///
  /// As many threads as cores work at once; `job.isCancelled` ends what is running and what is
  /// left.
  /// - Parameter progress: Called now and then on this thread, with the files that are done and, of
  ///   a single one, the fraction that is rendered. Without it a single file is rendered on this
  ///   thread.
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
      // Threads would cost more than the sound.
      work(0)
    } else {
      WorkerPool.run(jobCount: items.count, work: work) { done in
        progress?(done, fraction.withLock { $0 })
      }
    }
    return outcomes.withLock { $0 }
  }

  /// What all patterns are made from, so that no rendering replaces a sound of another pattern.
  private func overwriteCheck() -> InputOverwriteCheck {
    let wouldReplace = items.contains {
      if case .file(let path) = $0.destination {
        FileSystem.entry(at: path) != .missing
      } else {
        false
      }
    }
    // A single pattern names its files when it is read.
    guard items.count > 1, wouldReplace else { return InputOverwriteCheck() }
    let paths = Mutex<[String]>([])
    WorkerPool.run(jobCount: items.count) { index in
      let sources = items[index].input.sourcePaths
      paths.withLock { $0 += sources }
    } meanwhile: { _ in
    }
    return InputOverwriteCheck(reading: paths.withLock { $0 })
  }

  /// Renders one pattern to its file; whatever goes wrong is the outcome.
  ///
  /// - Parameter inputs: What the other patterns are made from.
  private func render(
    _ item: Item, overwriteCheck inputs: InputOverwriteCheck, progress: (Double) -> Void
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
        var inputs = inputs
        inputs.addInputs(pattern.sourcePaths)
        guard !inputs.isInput(path) else {
          throw FileError(path, "is an input; choose another '--output'")
        }
        try FileSystem.makeFolder(FileSystem.folder(of: path))
        var file = try AtomicFileWriter(path)
        statistics = try job.write(
          plans, title: name, to: file.descriptor, path: path, container: item.container,
          progress: progress)
        // A rendering can be made again: waiting for the disk would make a folder of them slow.
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

  /// A header is completed last, so the file is made apart and copied out.
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

/// What the transducers of channels would do with what drives them.
struct SimulatedAcceleration {
  /// One for each channel that drives a transducer whose resonance is known.
  private var transducers: [TransducerSimulation?]

  init(_ routing: OutputRouting, rate: Double) {
    transducers = routing.channels.map { channel in
      channel.transducer?.hardware.flatMap { hardware in
        hardware.model.map { TransducerSimulation($0, modes: hardware.modes, rate: rate) }
      }
    }
  }

  /// Puts the acceleration in the place of the drive, in the first frames of a block.
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

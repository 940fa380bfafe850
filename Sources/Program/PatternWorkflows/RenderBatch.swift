internal import Glibc
internal import HapticModel
public import HapticRender
public import Reading
public import SoundFile
internal import Synchronization
internal import SystemSupport

/// A batch that renders many patterns to sound files on all cores. A failure does not stop the
/// other renderings.
public struct RenderBatch: Sendable {
  /// A sound file to write, with the pattern to render.
  public struct Item: Sendable {
    /// The destination of a sound file.
    public enum Destination: Sendable {
      /// The file at this path, which is replaced atomically when it is complete. Missing folders
      /// are created.
      case file(path: String)
      /// A stream with a name, which receives all bytes in order when the file is complete.
      case stream(name: String, write: @Sendable (Span<UInt8>) throws -> Void)
    }

    /// The pattern to render.
    public var input: PatternInput
    /// The destination of the sound.
    public var destination: Destination
    /// The container format of the sound file.
    public var container: SoundFileFormat.Container
    /// The parts of the pattern that are rendered.
    public var audibleBuses: RenderSettings.AudibleBuses

    /// Creates an item.
    ///
    /// - Parameters:
    ///   - input: The pattern.
    ///   - destination: The destination of the sound.
    ///   - container: The kind of file.
    ///   - audibleBuses: The parts of the pattern that are rendered.
    public init(
      input: PatternInput, destination: Destination, container: SoundFileFormat.Container = .wav,
      audibleBuses: RenderSettings.AudibleBuses = .all
    ) {
      self.input = input
      self.destination = destination
      self.container = container
      self.audibleBuses = audibleBuses
    }

    /// The path of the sound file, or the name of the stream.
    public var name: String {
      switch destination {
      case .file(let path): path
      case .stream(let name, _): name
      }
    }
  }

  /// The outcome of rendering a sound file.
  public enum Outcome: Sendable {
    /// The sound file is complete.
    ///
    /// The associated values are the duration in seconds, without trailing silence unless the job
    /// has a duration; the statistics of the renderer; and warnings about deviations in playback.
    case written(seconds: Double, statistics: RenderStatistics, warnings: [Finding])
    /// The rendering failed, and nothing was written.
    case failed(any Error)
  }

  /// The settings for rendering all patterns. The buses to render are specified by each item.
  public var job: RenderJob
  /// The sound files to write.
  public var items: [Item]

  /// Creates a batch from a job and its items.
  public init(job: RenderJob, items: [Item]) {
    self.job = job
    self.items = items
  }

  /// Renders all items. Returns their outcomes in the order of the items.
  ///
  /// The number of threads equals the number of cores. `job.isCancelled` cancels both running and
  /// waiting items.
  ///
  /// - Parameter progress: Called from time to time on the current thread, with the number of
  ///   completed files and, for a single file, the rendered fraction. Without it, a single file is
  ///   rendered on the current thread.
  public func run(progress: ((_ doneCount: Int, _ fraction: Double) -> Void)? = nil) -> [Outcome] {
    let overwriteCheck = makeOverwriteCheck()
    let itemOutcomes = Mutex(items.map { Outcome.failed(FileError($0.name, "not started")) })
    let renderedFraction = Mutex(0.0)
    let renderItem: @Sendable (Int) -> Void = { index in
      let outcome = render(items[index], overwriteCheck: overwriteCheck) { newFraction in
        if items.count == 1 {
          renderedFraction.withLock { $0 = newFraction }
        }
      }
      itemOutcomes.withLock { $0[index] = outcome }
    }
    if items.count == 1 && progress == nil {
      // A single file would gain nothing from threads.
      renderItem(0)
    } else {
      WorkerPool.run(jobCount: items.count, work: renderItem) { doneCount in
        progress?(doneCount, renderedFraction.withLock { $0 })
      }
    }
    return itemOutcomes.withLock { $0 }
  }

  /// Returns an overwrite check for the source files of all patterns. With it, no output replaces a
  /// sound file of another pattern.
  private func makeOverwriteCheck() -> InputOverwriteCheck {
    let hasExistingOutputFile = items.contains {
      if case .file(let path) = $0.destination {
        FileSystem.entryKind(at: path) != .missing
      } else {
        false
      }
    }
    // The sources of a single pattern are known when it is read.
    guard items.count > 1, hasExistingOutputFile else { return InputOverwriteCheck() }
    let sourcePaths = Mutex<[String]>([])
    WorkerPool.run(jobCount: items.count) { index in
      let sources = items[index].input.sourcePaths
      sourcePaths.withLock { $0 += sources }
    } meanwhile: { _ in
    }
    return InputOverwriteCheck(reading: sourcePaths.withLock { $0 })
  }

  /// Renders one pattern to its file. Any error becomes the outcome.
  ///
  /// - Parameters:
  ///   - item: The item to render.
  ///   - overwriteCheck: The source files of all patterns.
  ///   - progress: A closure that receives the rendered fraction.
  private func render(
    _ item: Item, overwriteCheck: InputOverwriteCheck, progress: (Double) -> Void
  ) -> Outcome {
    do {
      if job.isCancelled() { throw FileError(item.name, "interrupted") }
      var job = job
      job.audibleBuses = item.audibleBuses
      let (plans, pattern) = try job.loadPlans(item.input)
      let titlePrefix = pattern.composition.title.map { "\($0): " } ?? ""
      let title = titlePrefix + item.input.outputStem
      let statistics: RenderStatistics
      switch item.destination {
      case .file(let path):
        var overwriteCheck = overwriteCheck
        overwriteCheck.addInputs(pattern.sourcePaths)
        guard !overwriteCheck.isInputPath(path) else {
          throw FileError(path, "is an input file; choose a different '--output'")
        }
        statistics = try renderToFile(
          plans, item: item, job: job, title: title, path: path, progress: progress)
      case .stream(_, let write):
        statistics = try renderToStream(plans, item: item, job: job, title: title, to: write)
      }
      let seconds =
        job.durationSeconds ?? Double(job.frameCountWithoutTail(of: plans))
        / Double(job.sampleRateHertz)
      let profiles = job.resolvedRouting(for: plans).profiles
      let warnings =
        pattern.playbackWarnings()
        + pattern.playbackFindings(on: profiles, rate: Double(job.sampleRateHertz))
      return .written(seconds: seconds, statistics: statistics, warnings: warnings)
    } catch {
      return .failed(error)
    }
  }

  /// Renders a pattern to a file. The new file replaces the old file only when it is complete.
  private func renderToFile(
    _ plans: [RenderPlan], item: Item, job: RenderJob, title: String, path: String,
    progress: (Double) -> Void
  ) throws -> RenderStatistics {
    try FileSystem.makeFolder(FileSystem.folderPath(of: path))
    var fileWriter = try AtomicFileWriter(path)
    let renderStatistics = try job.write(
      plans, title: title, to: fileWriter.descriptor, path: path, container: item.container,
      progress: progress)
    // The file is not flushed: it can be rendered again, and waiting for the disk would slow down a
    // batch.
    try fileWriter.commit(isFlushed: false)
    return renderStatistics
  }

  /// Renders a pattern to a temporary file, because the header is completed last, and copies it to
  /// the stream.
  private func renderToStream(
    _ plans: [RenderPlan], item: Item, job: RenderJob, title: String,
    to write: (Span<UInt8>) throws -> Void
  ) throws -> RenderStatistics {
    guard let temporaryFile = unsafe tmpfile() else {
      throw FileError.systemError(item.name, "no space for a temporary file")
    }
    defer { unsafe fclose(temporaryFile) }
    let temporaryDescriptor = unsafe fileno(temporaryFile)
    let renderStatistics = try job.write(
      plans, title: title, to: temporaryDescriptor, path: item.name, container: item.container
    ) { _ in
    }
    lseek(temporaryDescriptor, 0, SEEK_SET)
    let blockByteCount = 1 << 16
    var blockBytes: [UInt8] = []
    blockBytes.reserveCapacity(blockByteCount)
    var hasMoreBytes = true
    while hasMoreBytes {
      blockBytes.removeAll(keepingCapacity: true)
      hasMoreBytes = try FileSystem.appendBytes(
        to: &blockBytes, blockByteCount, of: temporaryDescriptor, name: item.name)
      try write(blockBytes.span)
    }
    return renderStatistics
  }
}

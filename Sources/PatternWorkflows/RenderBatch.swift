internal import Glibc
public import Reading
internal import Synchronization
internal import HapticModel
public import HapticRender
public import SoundFile
internal import SystemSupport

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
    /// The file is complete: seconds of sound, what the renderer counted, and what is wrong with the
    /// sound files of the pattern.
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
  /// As many threads as cores work at once; `job.isCancelled` ends what is running and what is left.
  /// - Parameter progress: Called now and then on this thread, with the files that are done and, of a
  ///   single one, the fraction that is rendered. Without it a single file is rendered on this thread.
  public func run(progress: ((_ doneCount: Int, _ fraction: Double) -> Void)? = nil) -> [Outcome] {
    let inputs = inputs()
    let outcomes = Mutex([Outcome?](repeating: nil, count: items.count))
    let fraction = Mutex(0.0)
    let work: @Sendable (Int) -> Void = { index in
      let outcome = render(items[index], reading: inputs) { part in
        if items.count == 1 { fraction.withLock { $0 = part } }
      }
      outcomes.withLock { $0[index] = outcome }
    }
    if items.count == 1 && progress == nil {
      // Threads would cost more than the sound.
      work(0)
    } else {
      WorkerPool.run(items.count, work: work) { done in progress?(done, fraction.withLock { $0 }) }
    }
    let results = outcomes.withLock { $0 }
    return zip(items, results).map { $1 ?? .failed(FileError($0.name, "not started")) }
  }

  /// What all patterns are made from, so that no rendering replaces a sound of another pattern.
  private func inputs() -> OutputGuard {
    let wouldReplace = items.contains {
      if case .file(let path) = $0.destination { FileSystem.entry(at: path) != .nothing } else { false }
    }
    // A single pattern names its files when it is read.
    guard items.count > 1, wouldReplace else { return OutputGuard() }
    let paths = Mutex<[String]>([])
    WorkerPool.run(items.count) { index in
      let sources = items[index].input.sources
      paths.withLock { $0 += sources }
    } meanwhile: { _ in
    }
    return OutputGuard(reading: paths.withLock { $0 })
  }

  /// Renders one pattern to its file; whatever goes wrong is the outcome.
  ///
  /// - Parameter inputs: What the other patterns are made from.
  private func render(_ item: Item, reading inputs: OutputGuard, progress: (Double) -> Void) -> Outcome {
    do {
      if job.isCancelled() { throw FileError(item.name, "interrupted") }
      var job = job
      job.buses = item.buses
      let (plans, pattern) = try job.plans(item.input)
      let title = pattern.composition.title.map { "\($0): \(item.input.outputStem)" }
      let name = title ?? item.input.outputStem
      let statistics: RenderStatistics
      switch item.destination {
      case .file(let path):
        var inputs = inputs
        inputs.insert(pattern.sources)
        guard !inputs.isInput(path) else { throw FileError(path, "is an input; choose another '--output'") }
        try FileSystem.makeFolder(FileSystem.folder(of: path))
        var file = try AtomicFileWriter(path)
        statistics = try job.write(
          plans, title: name, to: file.descriptor, path: path, container: item.container, progress: progress)
        // A rendering can be made again: waiting for the disk would make a folder of them slow.
        try file.commit(isFlushed: false)
      case .stream(_, let write): statistics = try spool(plans, item, job: job, title: name, to: write)
      }
      let length = job.settings(for: plans).length ?? 0
      return .written(
        seconds: Double(length) / Double(job.rate), statistics: statistics, warnings: pattern.soundWarnings())
    } catch { return .failed(error) }
  }

  /// A header is completed last, so the file is made apart and copied out.
  private func spool(
    _ plans: [RenderPlan], _ item: Item, job: RenderJob, title: String, to write: (Span<UInt8>) throws -> Void
  ) throws -> RenderStatistics {
    guard let spool = unsafe tmpfile() else { throw FileError.system(item.name, "no space for a temporary file") }
    defer { unsafe fclose(spool) }
    let descriptor = unsafe fileno(spool)
    let statistics = try job.write(plans, title: title, to: descriptor, path: item.name, container: item.container) {
      _ in
    }
    lseek(descriptor, 0, SEEK_SET)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return statistics }
      try write(buffer.span.extracting(first: count))
    }
  }
}
